// What can be put after an @: files, symbols, the selection, problems, the git diff, the terminal.

import { basename } from "node:path";
import * as vscode from "vscode";
import type { Attachment, Mention } from "../../common/messages";

const MOST = 30;
const LONGEST = 200_000;
const IGNORED = "**/{node_modules,.git,.venv,dist,build,__pycache__}/**";

const FIXED: readonly Mention[] = [
  {
    id: "selection",
    label: "selection",
    detail: "The selected text of the editor",
    icon: "selection",
  },
  { id: "problems", label: "problems", detail: "All errors and warnings", icon: "warning" },
  { id: "diff", label: "diff", detail: "Uncommitted changes (git)", icon: "git-compare" },
  {
    id: "terminal",
    label: "terminal",
    detail: "The selected text of the terminal",
    icon: "terminal",
  },
];

export async function mentions(query: string): Promise<readonly Mention[]> {
  const wanted = query.toLowerCase();
  const fixed = FIXED.filter((one) => one.label.startsWith(wanted));
  const [files, symbols] = await Promise.all([
    fileMentions(wanted),
    query.length < 2 ? [] : symbolMentions(query),
  ]);
  return [...fixed, ...files, ...symbols].slice(0, MOST);
}

/** What goes with the prompt when a mention was chosen. */
export async function attachmentOf(id: string): Promise<Attachment> {
  const [kind, rest = ""] = split(id);
  switch (kind) {
    case "file":
      return fileAttachment(vscode.Uri.parse(rest, true));
    case "symbol":
      return symbolAttachment(rest);
    case "selection":
      return selectionAttachment();
    case "problems":
      return textAttachment("problems", problemsText());
    case "diff":
      return textAttachment("diff", await diffText());
    case "terminal":
      return textAttachment("terminal", await terminalText());
    default:
      throw new Error("There is nothing of this name.");
  }
}

function split(id: string): readonly [string, string?] {
  const at = id.indexOf(" ");
  return at < 0 ? [id] : [id.slice(0, at), id.slice(at + 1)];
}

async function fileMentions(wanted: string): Promise<readonly Mention[]> {
  const open = vscode.window.tabGroups.all
    .flatMap((group) => group.tabs.map((tab) => tab.input))
    .filter((input) => input instanceof vscode.TabInputText)
    .map((input) => input.uri)
    .filter((uri) => uri.scheme === "file");
  const pattern = wanted === "" ? "**/*" : `**/*${wanted.replace(/[^\w./-]/g, "?")}*`;
  const found = await vscode.workspace.findFiles(insensitive(pattern), IGNORED, MOST);
  const paths = new Map([...open, ...found].map((uri) => [uri.toString(), uri]));
  return [...paths]
    .map(([id, uri]) => ({ id, path: vscode.workspace.asRelativePath(uri) }))
    .filter(({ path }) => path.toLowerCase().includes(wanted))
    .map(({ id, path }) => ({
      id: `file ${id}`,
      label: basename(path),
      detail: path,
      icon: "file",
    }));
}

/** Globs of VS Code know no "ignore case". */
function insensitive(pattern: string): string {
  return pattern.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}

async function symbolMentions(query: string): Promise<readonly Mention[]> {
  const found = await vscode.commands.executeCommand<vscode.SymbolInformation[] | undefined>(
    "vscode.executeWorkspaceSymbolProvider",
    query,
  );
  return (found ?? []).slice(0, 10).map(({ name, location }) => ({
    id: `symbol ${JSON.stringify([name, location.uri.toString(), location.range.start.line, location.range.end.line])}`,
    label: name,
    detail: vscode.workspace.asRelativePath(location.uri),
    icon: "symbol-method",
  }));
}

export function fileAttachment(uri: vscode.Uri): Attachment {
  return {
    label: basename(uri.path),
    block: { kind: "link", uri: uri.toString(), name: basename(uri.path) },
  };
}

async function symbolAttachment(id: string): Promise<Attachment> {
  const [name, uri, first, last] = JSON.parse(id) as [string, string, number, number];
  const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri, true));
  const range = new vscode.Range(first, 0, last + 1, 0);
  return resource(name, `${uri}#L${first + 1}-L${last + 1}`, document.getText(range));
}

export function selectionAttachment(): Attachment {
  const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
  if (!editor || editor.selection.isEmpty)
    throw new Error("No text is selected. Select some in an editor first.");
  const { document, selection } = editor;
  const lines = `L${selection.start.line + 1}-L${selection.end.line + 1}`;
  const label = `${basename(document.uri.path)}:${selection.start.line + 1}-${selection.end.line + 1}`;
  return resource(label, `${document.uri.toString()}#${lines}`, document.getText(selection));
}

function resource(label: string, uri: string, text: string): Attachment {
  return {
    label,
    block: { kind: "resource", uri, name: label, mime: "text/plain", text: text.slice(0, LONGEST) },
  };
}

function textAttachment(name: string, text: string): Attachment {
  return resource(name, `agentls-context:/${name}.txt`, text);
}

function problemsText(): string {
  const lines = vscode.languages
    .getDiagnostics()
    .flatMap(([uri, found]) =>
      found
        .filter(
          (one) => one.severity <= vscode.DiagnosticSeverity.Warning && one.source !== "agentls",
        )
        .map(
          (one) =>
            `${vscode.workspace.asRelativePath(uri)}:${one.range.start.line + 1}: ${one.message}`,
        ),
    );
  if (lines.length === 0) throw new Error("There are no errors or warnings.");
  return lines.join("\n");
}

interface GitApi {
  getAPI(version: 1): {
    readonly repositories: readonly { diff(cached?: boolean): Promise<string> }[];
  };
}

async function diffText(): Promise<string> {
  const extension = vscode.extensions.getExtension<GitApi>("vscode.git");
  const api = (await extension?.activate())?.getAPI(1);
  const diffs = await Promise.all(
    (api?.repositories ?? []).flatMap((one) => [one.diff(false), one.diff(true)]),
  );
  const text = diffs.join("\n").trim();
  if (text === "") throw new Error("There are no uncommitted changes.");
  return text;
}

/** VS Code gives the selection of a terminal to the clipboard only. */
async function terminalText(): Promise<string> {
  const before = await vscode.env.clipboard.readText();
  await vscode.commands.executeCommand("workbench.action.terminal.copySelection");
  const text = await vscode.env.clipboard.readText();
  await vscode.env.clipboard.writeText(before);
  if (text === "" || text === before) throw new Error("No text is selected in the terminal.");
  return text;
}
