// Differences in VS Code's own diff editors. The side that can be edited is always the real file.

import { basename } from "node:path";
import * as vscode from "vscode";
import { methods, type ChangeItem, type HunkItem, type RestoreFile } from "../../protocol.gen";
import type { Server } from "../server";

export const SCHEME = "agentls-review";

type Wanted =
  | { readonly type: "before"; readonly changeId: string }
  | { readonly type: "then"; readonly restoreId: string; readonly path: string }
  /** The file as it is while an ask about it waits. */
  | { readonly type: "present"; readonly askId: string; readonly path: string }
  | { readonly type: "nothing" };

/** Texts as they were, or would be, as read-only documents. */
export class ReviewTexts implements vscode.TextDocumentContentProvider {
  constructor(private readonly server: Server) {}

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const wanted = JSON.parse(uri.query) as Wanted;
    switch (wanted.type) {
      case "before":
        return (await this.server.request(methods.changeShow, wanted)).before ?? "";
      case "then":
        return (await this.server.request(methods.changeRestoreShow, wanted)).then ?? "";
      case "present": {
        const { files } = await this.server.request(methods.askProposal, { askId: wanted.askId });
        return files.find((file) => file.path === wanted.path)?.before ?? "";
      }
      case "nothing":
        return "";
    }
  }
}

export function textUri(path: string, wanted: Wanted): vscode.Uri {
  return vscode.Uri.file(path).with({ scheme: SCHEME, query: JSON.stringify(wanted) });
}

/** The file before the change, and as it is now. */
function sides(change: ChangeItem): readonly [vscode.Uri, vscode.Uri] {
  const before =
    change.oldPath !== undefined && change.oldPath !== "" ? change.oldPath : change.path;
  const { changeId } = change;
  return [
    change.type === "created"
      ? textUri(before, { type: "nothing" })
      : textUri(before, { type: "before", changeId }),
    change.type === "deleted"
      ? textUri(change.path, { type: "nothing" })
      : vscode.Uri.file(change.path),
  ];
}

export async function showChange(change: ChangeItem, hunk?: HunkItem): Promise<void> {
  const [before, now] = sides(change);
  const at = hunk ?? change.hunks?.[0];
  const line = at ? new vscode.Range(at.start, 0, at.start, 0) : undefined;
  await vscode.commands.executeCommand(
    "vscode.diff",
    before,
    now,
    `${basename(change.path)} (before turn ${change.turn} ↔ now)`,
    { preview: true, ...(line ? { selection: line } : {}) },
  );
}

/** Many files in one view; of a file with several changes the oldest one has what was before. */
export async function showChanges(title: string, changes: readonly ChangeItem[]): Promise<void> {
  const oldest = new Map<string, ChangeItem>();
  for (const change of changes) if (!oldest.has(change.path)) oldest.set(change.path, change);
  const [only, ...more] = oldest.values();
  if (only && more.length === 0) return showChange(only);
  const resources = [...oldest.values()].map((change) => [
    vscode.Uri.file(change.path),
    ...sides(change),
  ]);
  await vscode.commands.executeCommand("vscode.changes", title, resources);
}

/** What going back would make of the files. */
export async function showRestore(
  title: string,
  restoreId: string,
  files: readonly RestoreFile[],
): Promise<void> {
  const resources = files
    .filter((file) => file.effect !== "none")
    .map((file) => [
      vscode.Uri.file(file.path),
      file.effect === "made" ? textUri(file.path, { type: "nothing" }) : vscode.Uri.file(file.path),
      textUri(file.path, { type: "then", restoreId, path: file.path }),
    ]);
  await vscode.commands.executeCommand("vscode.changes", title, resources);
}
