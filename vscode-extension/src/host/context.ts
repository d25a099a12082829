// The one long-lived object: what there is, and who knows whom.

import * as vscode from "vscode";
import { methods } from "../protocol.gen";
import { Asks } from "./asks";
import { AskTree } from "./askTree";
import { Chats } from "./chat/chats";
import { SCHEME, Texts } from "./chat/open";
import { followFiles } from "./followFiles";
import { serverSettings } from "./manifest.gen";
import { Changes } from "./review/changes";
import { ChangeTree } from "./review/changeTree";
import { marks } from "./review/marks";
import { Proposals } from "./review/proposals";
import { ReviewTexts, SCHEME as REVIEW } from "./review/showing";
import { Pickers } from "./pickers";
import { Server } from "./server";
import { Sessions } from "./sessions";
import { SessionTree } from "./sessionTree";
import { statusBar } from "./statusBar";
import { Terminals } from "./terminals";

export class Context implements vscode.Disposable {
  readonly server: Server;
  readonly sessions: Sessions;
  readonly asks: Asks;
  readonly pickers: Pickers;
  readonly chats: Chats;
  readonly terminals: Terminals;
  readonly changes: Changes;
  readonly proposals: Proposals;
  readonly changeTree: ChangeTree;
  private readonly parts: readonly vscode.Disposable[];

  constructor(
    readonly extension: vscode.Uri,
    storage: vscode.Memento,
    /** What is kept for this workspace. */
    readonly kept: vscode.Memento,
  ) {
    this.server = new Server(storage);
    this.sessions = new Sessions(this.server);
    this.pickers = new Pickers(this.server, this.sessions);
    this.proposals = new Proposals(this.server, this.sessions);
    this.asks = new Asks(this.server, this.sessions, this.proposals, (id) =>
      this.chats.isVisible(id),
    );
    this.chats = new Chats(this);
    this.terminals = new Terminals(this.server);
    this.changes = new Changes(this.server);
    this.changeTree = new ChangeTree(this.changes, this.sessions);
    const tree = vscode.window.createTreeView("agentls.sessions", {
      treeDataProvider: new SessionTree(this.sessions),
    });
    const inbox = vscode.window.createTreeView("agentls.asks", {
      treeDataProvider: new AskTree(this.sessions),
    });
    this.parts = [
      this.chats,
      this.terminals,
      vscode.window.registerTreeDataProvider("agentls.terminals", this.terminals),
      this.asks,
      tree,
      inbox,
      this.changes,
      this.proposals,
      vscode.window.registerTreeDataProvider("agentls.changes", this.changeTree),
      vscode.workspace.registerTextDocumentContentProvider(REVIEW, new ReviewTexts(this.server)),
      marks(this.changes),
      statusBar(this.server, this.sessions),
      followFiles(this.sessions),
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, new Texts(this.server)),
      tree.onDidChangeVisibility(({ visible }) => void (visible && this.server.start())),
      this.sessions.onChange(() => this.badge(inbox)),
      this.chats.onVisibility(() => this.asks.follow()),
      this.server.onState(({ state }) => {
        void vscode.commands.executeCommand("setContext", "agentls.running", state === "running");
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => void this.server.start()),
      vscode.workspace.onDidChangeConfiguration((event) => void this.configured(event)),
      this.sessions,
      this.server,
    ];
  }

  /** Stops the turn; prompts that waited go back to where they were written. */
  async stop(sessionId: string, giveBack: (text: string) => void): Promise<void> {
    const { returned } = await this.server.request(methods.sessionCancel, { sessionId });
    if ((returned ?? []).length > 0) giveBack((returned ?? []).join("\n"));
  }

  dispose(): void {
    for (const part of this.parts) part.dispose();
  }

  private badge(inbox: vscode.TreeView<unknown>): void {
    const value = this.sessions.openAsks.length;
    inbox.badge =
      value === 0 ? undefined : { value, tooltip: `${value} asks wait for your answer` };
  }

  private async configured(event: vscode.ConfigurationChangeEvent): Promise<void> {
    const names = ["server.command", ...serverSettings];
    if (!names.some((name) => event.affectsConfiguration(`agentls.${name}`))) return;
    // A window may learn its settings after it has opened its views: then this is the first good try,
    // and one that is under way does not know them yet.
    if (this.server.isStarting) await this.server.start();
    if (this.server.state.state === "stopped") await this.server.start();
    else if (this.server.state.state === "running") await this.offerRestart();
  }

  private async offerRestart(): Promise<void> {
    const restart = "Restart";
    const chosen = await vscode.window.showInformationMessage(
      "The settings count after a restart of the agentls server, which ends its agents.",
      restart,
    );
    if (chosen === restart) await this.server.restart();
  }
}
