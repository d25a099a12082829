// Reviewing: what its commands do.

import * as vscode from "vscode";
import { methods, type ChangeItem } from "../../protocol.gen";
import { forNotification, oneLine } from "../../common/plainText";
import type { Context } from "../context";
import { pendingHunks, type Verdict } from "./changes";
import { whichOf, type ChangeNode } from "./changeTree";
import { showChange, showChanges, showRestore } from "./showing";

export const reviewCommands = {
  reviewChanges: (context: Context, argument: unknown) => {
    const node = nodeOf(argument);
    const changes = node ? context.changeTree.of(node) : context.changes.pending;
    if (changes.length === 0) throw new Error("There is nothing to review.");
    return showChanges(node?.kind === "turn" ? `Turn ${node.turn}` : "Changes of agents", changes);
  },
  showChange: (_: Context, argument: unknown) => {
    const node = needed(argument);
    if (node.kind === "hunk") return showChange(node.change, node.hunk);
    return node.kind === "file" ? showChange(node.change) : undefined;
  },
  openChanged: (_: Context, argument: unknown) => {
    const node = needed(argument);
    if (node.kind === "file") return open(node.change.path, node.change.hunks?.[0]?.start ?? 0);
    return undefined;
  },
  keepChange: (context: Context, argument: unknown) => decide(context, "keep", argument),
  undoChange: (context: Context, argument: unknown) => decide(context, "undo", argument),
  redoChange: (context: Context, argument: unknown) => decide(context, "redo", argument),
  keepAllChanges: (context: Context) => context.changes.decide("keep", {}),
  undoAllChanges: (context: Context) => undoAll(context),
  nextChange: (context: Context) => step(context, 1),
  previousChange: (context: Context) => step(context, -1),
  goBack: (context: Context, argument: unknown) => goBack(context, nodeOf(argument)),
};

function nodeOf(argument: unknown): ChangeNode | undefined {
  if (typeof argument !== "object" || argument === null || !("kind" in argument)) return undefined;
  return argument as ChangeNode;
}

function needed(argument: unknown): ChangeNode {
  const node = nodeOf(argument);
  if (!node) throw new Error("Choose a change in the list of changes.");
  return node;
}

function decide(context: Context, verdict: Verdict, argument: unknown): Promise<void> {
  return context.changes.decide(verdict, whichOf(needed(argument)));
}

async function undoAll(context: Context): Promise<void> {
  const { pending } = context.changes;
  if (pending.length === 0) throw new Error("There is nothing to undo.");
  const paths = [...new Set(pending.map((change) => change.path))];
  const yes = `Undo in ${paths.length} ${paths.length === 1 ? "file" : "files"}`;
  const detail = paths
    .slice(0, 15)
    .map((path) => vscode.workspace.asRelativePath(path))
    .join("\n");
  const chosen = await vscode.window.showWarningMessage(
    "Undo everything that agents changed and you have not kept?",
    { modal: true, detail },
    yes,
  );
  if (chosen !== yes) return;
  // Only what was shown: a change that came meanwhile stays.
  for (const { changeId } of pending) await context.changes.decide("undo", { changeId });
}

async function open(path: string, line: number): Promise<void> {
  const selection = new vscode.Range(line, 0, line, 0);
  await vscode.window.showTextDocument(vscode.Uri.file(path), { selection });
}

/** The next place to decide about after the cursor, over all files. */
async function step(context: Context, by: 1 | -1): Promise<void> {
  const places = context.changes.pending
    .filter((change) => change.type !== "deleted")
    .flatMap((change) => pendingHunks(change).map((hunk) => ({ path: change.path, ...hunk })))
    .sort((a, b) => (a.path === b.path ? a.start - b.start : a.path < b.path ? -1 : 1));
  if (places.length === 0) throw new Error("There is nothing to review.");
  const editor = vscode.window.activeTextEditor;
  const path = editor?.document.uri.fsPath ?? "";
  const line = editor?.selection.active.line ?? 0;
  const order = by === 1 ? places : [...places].reverse();
  const found = order.find((place) =>
    place.path === path ? (place.start - line) * by > 0 : place.path > path === (by === 1),
  );
  const target = found ?? order[0];
  if (target) await open(target.path, target.start);
}

async function goBack(context: Context, chosen: ChangeNode | undefined): Promise<void> {
  const node = chosen?.kind === "turn" ? chosen : await pickTurn(context.changes.all);
  if (!node) return;
  const { sessionId, turn } = node;
  const { restoreId, files } = await context.server.request(methods.changeRestore, {
    step: "preview",
    sessionId,
    turn,
  });
  const meant = files.filter((file) => file.effect !== "none");
  if (meant.length === 0) {
    const [why] = files.flatMap((file) => (file.why ?? "") || []);
    throw new Error(why ?? "Nothing would change: the files are as they were before that turn.");
  }
  await showRestore(`Before turn ${turn}`, restoreId, files);
  const yes = "Go Back";
  const left = files.length - meant.length;
  const words = [
    `Go back to before turn ${turn}? ${meant.length} ${meant.length === 1 ? "file changes" : "files change"}, as shown.`,
    left === 0 ? "" : `${left} cannot: ${oneLine(files.find((file) => file.why)?.why ?? "", 120)}`,
  ];
  const answer = await vscode.window.showWarningMessage(forNotification(words.join(" "), 400), yes);
  if (answer !== yes) return;
  const done = await context.server.request(methods.changeRestore, { step: "do", restoreId });
  const undo = "Undo";
  const failed = done.files.filter((file) => (file.why ?? "") !== "");
  const said = failed.length === 0 ? "" : ` ${failed.length} were left: ${failed[0]?.why ?? ""}`;
  const after = await vscode.window.showInformationMessage(
    forNotification(`The files are as before turn ${turn}.${said}`, 400),
    undo,
  );
  if (after === undo)
    await context.server.request(methods.changeRestore, { step: "undo", restoreId });
}

async function pickTurn(
  changes: readonly ChangeItem[],
): Promise<Extract<ChangeNode, { kind: "turn" }> | undefined> {
  const turns = new Map(changes.map((change) => [`${change.sessionId} ${change.turn}`, change]));
  if (turns.size === 0) throw new Error("No agent has changed a file.");
  const items = [...turns.values()].reverse().map(({ sessionId, turn, prompt, agent }) => ({
    label: oneLine(prompt || `Turn ${turn}`, 80),
    description: `${agent}, turn ${turn}`,
    node: { kind: "turn" as const, sessionId, turn },
  }));
  return (
    await vscode.window.showQuickPick(items, { placeHolder: "Go back to before which turn?" })
  )?.node;
}
