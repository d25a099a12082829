// Changes that wait for a yes: shown beside what is there, and edited before they are accepted.
//
// Invariant: what accepting writes is the text that is on the page; nothing else is decided here.

import { basename } from "node:path";
import * as vscode from "vscode";
import { methods } from "../../protocol.gen";
import type { Server } from "../server";
import type { Sessions } from "../sessions";
import { textUri } from "./showing";

export class Proposals implements vscode.Disposable {
  /** The page of a proposal, and the ask it belongs to. */
  private readonly pages = new Map<string, string>();
  private readonly part: vscode.Disposable;

  constructor(
    private readonly server: Server,
    private readonly sessions: Sessions,
  ) {
    this.part = sessions.onChange(() => void this.closeSettled());
  }

  async open(askId: string): Promise<void> {
    const { files } = await this.server.request(methods.askProposal, { askId });
    for (const file of files) {
      const page = vscode.Uri.parse(file.uri, true);
      this.pages.set(page.toString(), askId);
      const before = textUri(file.path, { type: "present", askId, path: file.path });
      await vscode.commands.executeCommand(
        "vscode.diff",
        before,
        page,
        `${basename(file.path)} (proposed: edit it, then allow)`,
        { preview: false },
      );
    }
  }

  askOf(page: vscode.Uri): string | undefined {
    return this.pages.get(page.toString());
  }

  /** Before the answer: the page on disk is the page that is seen. */
  async save(askId: string): Promise<void> {
    const pages = new Set(this.pagesOf(askId));
    const dirty = vscode.workspace.textDocuments.filter(
      (document) => document.isDirty && pages.has(document.uri.toString()),
    );
    await Promise.all(dirty.map((document) => document.save()));
  }

  dispose(): void {
    this.part.dispose();
  }

  private pagesOf(askId: string): readonly string[] {
    return [...this.pages].filter(([, ask]) => ask === askId).map(([page]) => page);
  }

  private async closeSettled(): Promise<void> {
    const open = new Set(this.sessions.openAsks.map((ask) => ask.askId));
    const over = [...this.pages].filter(([, ask]) => !open.has(ask)).map(([page]) => page);
    for (const page of over) this.pages.delete(page);
    // One that is being edited stays: a person's text is never closed away.
    const tabs = vscode.window.tabGroups.all
      .flatMap((group) => group.tabs)
      .filter(
        ({ input, isDirty }) =>
          !isDirty &&
          input instanceof vscode.TabInputTextDiff &&
          over.includes(input.modified.toString()),
      );
    if (tabs.length > 0) await vscode.window.tabGroups.close(tabs, true);
  }
}
