// Opening what a page points at: links, files, diffs, long texts. The page is not believed.

import { isAbsolute, join } from "node:path";
import * as vscode from "vscode";
import { methods } from "../../protocol.gen";
import { target } from "../../common/links";
import type { Server } from "../server";

export const SCHEME = "agentls-text";

/** Texts of tool calls as read-only documents: agentls-text:/greet.py?{session, entry, part, side}. */
export class Texts implements vscode.TextDocumentContentProvider {
  constructor(private readonly server: Server) {}

  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const wanted = JSON.parse(uri.query) as TextPlace;
    if (wanted.side === "none") return "";
    const { text } = await this.server.request(methods.sessionBody, {
      sessionId: wanted.sessionId,
      entryId: wanted.entryId,
      part: wanted.part,
      side: wanted.side,
    });
    return text;
  }
}

interface TextPlace {
  readonly sessionId: string;
  readonly entryId: string;
  readonly part: number | string;
  readonly side: "old" | "new" | "none";
}

function textUri(name: string, place: TextPlace): vscode.Uri {
  const path = `/${name.split(/[\\/]/).at(-1) || "text"}`;
  return vscode.Uri.from({ scheme: SCHEME, path, query: JSON.stringify(place) });
}

export async function showDiff(path: string, place: Omit<TextPlace, "side">): Promise<void> {
  const before = textUri(path, { ...place, side: "old" });
  const after = textUri(path, { ...place, side: "new" });
  const name = path.split(/[\\/]/).at(-1) ?? path;
  await vscode.commands.executeCommand("vscode.diff", before, after, `${name} (agent’s change)`, {
    preview: true,
  });
}

export async function showText(place: Omit<TextPlace, "side">): Promise<void> {
  const document = await vscode.workspace.openTextDocument(
    textUri("output.txt", { ...place, side: "new" }),
  );
  await vscode.window.showTextDocument(document, { preview: true });
}

/** Follows a link of the conversation, if it is one that may be followed. */
export async function follow(href: string, cwd: string): Promise<void> {
  const found = target(href);
  if (!found) return;
  if (found.type === "web") {
    await vscode.env.openExternal(vscode.Uri.parse(found.url, true));
    return;
  }
  const path = isAbsolute(found.path) ? found.path : join(cwd, found.path);
  const uri = vscode.Uri.file(path);
  try {
    const stat = await vscode.workspace.fs.stat(uri);
    if (stat.type === vscode.FileType.Directory) {
      await vscode.commands.executeCommand("revealInExplorer", uri);
      return;
    }
  } catch {
    throw new Error(`There is no file ${path}.`);
  }
  await reveal(uri, found.line);
}

export async function reveal(
  uri: vscode.Uri,
  line: number | undefined,
  preserveFocus = false,
): Promise<void> {
  const at = new vscode.Position(Math.max(0, (line ?? 1) - 1), 0);
  const selection = line === undefined ? {} : { selection: new vscode.Range(at, at) };
  // Pictures and other things that are no text open as what they are.
  await vscode.commands.executeCommand("vscode.open", uri, {
    preview: true,
    preserveFocus,
    ...selection,
  });
}
