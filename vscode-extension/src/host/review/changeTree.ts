// The tree of changes: sessions, their turns, the files of a turn, the hunks of a file.

import { basename } from "node:path";
import * as vscode from "vscode";
import type { ChangeItem, HunkItem } from "../../protocol.gen";
import { title } from "../../common/messages";
import { oneLine } from "../../common/plainText";
import { commandIds } from "../manifest.gen";
import type { Sessions } from "../sessions";
import { size, type Changes, type Which } from "./changes";

export type ChangeNode =
  | { readonly kind: "session"; readonly sessionId: string }
  | { readonly kind: "turn"; readonly sessionId: string; readonly turn: number }
  | { readonly kind: "file"; readonly change: ChangeItem }
  | { readonly kind: "hunk"; readonly change: ChangeItem; readonly hunk: HunkItem };

export function whichOf(node: ChangeNode): Which {
  switch (node.kind) {
    case "session":
      return { sessionId: node.sessionId };
    case "turn":
      return { sessionId: node.sessionId, turn: node.turn };
    case "file":
      return { changeId: node.change.changeId };
    case "hunk":
      return { changeId: node.change.changeId, hunkIds: [node.hunk.hunkId] };
  }
}

const TYPE_ICONS: Readonly<Record<string, string>> = {
  created: "diff-added",
  deleted: "diff-removed",
  renamed: "diff-renamed",
};

export class ChangeTree implements vscode.TreeDataProvider<ChangeNode> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly changes: Changes,
    private readonly sessions: Sessions,
  ) {
    changes.onChange(() => this.changed.fire());
  }

  getChildren(node?: ChangeNode): ChangeNode[] {
    if (!node) {
      const ids = new Set(this.changes.all.map((change) => change.sessionId));
      return [...ids].reverse().map((sessionId) => ({ kind: "session", sessionId }));
    }
    switch (node.kind) {
      case "session": {
        const turns = new Set(this.of(node).map((change) => change.turn));
        const { sessionId } = node;
        return [...turns].reverse().map((turn) => ({ kind: "turn", sessionId, turn }));
      }
      case "turn":
        return this.of(node).map((change) => ({ kind: "file", change }));
      case "file": {
        const { change } = node;
        return (change.hunks ?? []).map((hunk) => ({ kind: "hunk", change, hunk }));
      }
      case "hunk":
        return [];
    }
  }

  getTreeItem(node: ChangeNode): vscode.TreeItem {
    switch (node.kind) {
      case "session":
      case "turn":
        return this.group(node);
      case "file":
        return fileItem(node.change);
      case "hunk":
        return hunkItem(node);
    }
  }

  /** The changes below a node. */
  of(node: ChangeNode): readonly ChangeItem[] {
    if (node.kind === "file" || node.kind === "hunk") return [node.change];
    return this.changes.all.filter(
      (change) =>
        change.sessionId === node.sessionId &&
        (node.kind === "session" || change.turn === node.turn),
    );
  }

  private group(node: Extract<ChangeNode, { kind: "session" | "turn" }>): vscode.TreeItem {
    const below = this.of(node);
    const [first] = below;
    const head = this.sessions.head(node.sessionId);
    const label =
      node.kind === "session"
        ? head
          ? title(head)
          : (first?.agent ?? "")
        : first?.prompt || `Turn ${node.turn}`;
    const open = below.some((change) => change.pending);
    const item = new vscode.TreeItem(
      oneLine(label, 80),
      open ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.Collapsed,
    );
    item.id = node.kind === "session" ? node.sessionId : `${node.sessionId} ${node.turn}`;
    item.description =
      node.kind === "session"
        ? (first?.agent ?? "")
        : `turn ${node.turn} · ${files(below)} · ${size(below)}`;
    item.iconPath = new vscode.ThemeIcon(
      node.kind === "session" ? "comment-discussion" : "history",
    );
    item.contextValue = `change.${node.kind}.${open ? "pending" : stateOf(below)}`;
    return item;
  }
}

function fileItem(change: ChangeItem): vscode.TreeItem {
  const hunks = change.hunks ?? [];
  const item = new vscode.TreeItem(
    basename(change.path),
    hunks.length > 1
      ? vscode.TreeItemCollapsibleState.Collapsed
      : vscode.TreeItemCollapsibleState.None,
  );
  const words = change.pending ? size([change]) : stateOf([change]);
  item.id = change.changeId;
  item.resourceUri = vscode.Uri.file(change.path);
  item.description = `${vscode.workspace.asRelativePath(change.path)} · ${words}`;
  item.iconPath = new vscode.ThemeIcon(TYPE_ICONS[change.type] ?? "diff-modified");
  item.tooltip = `${change.path}\n${change.type} by ${change.agent} in turn ${change.turn}`;
  item.contextValue = `change.file.${change.pending ? "pending" : stateOf([change])}`;
  item.command = {
    command: commandIds.showChange,
    title: "Show",
    arguments: [{ kind: "file", change } satisfies ChangeNode],
  };
  item.accessibilityInformation = {
    label: `${basename(change.path)}, ${change.type} by ${change.agent}, ${words}`,
  };
  return item;
}

function hunkItem(node: Extract<ChangeNode, { kind: "hunk" }>): vscode.TreeItem {
  const { hunk } = node;
  const label = hunk.label ?? "";
  const item = new vscode.TreeItem(label === "" ? `Line ${hunk.start + 1}` : oneLine(label, 80));
  const state = hunk.state === "pending" ? "" : ` · ${hunk.state}`;
  item.id = hunk.hunkId;
  item.description = `line ${hunk.start + 1} · +${hunk.added ?? 0} −${hunk.removed ?? 0}${state}`;
  item.contextValue = `change.hunk.${hunk.state}`;
  item.command = { command: commandIds.showChange, title: "Show", arguments: [node] };
  return item;
}

function stateOf(changes: readonly ChangeItem[]): string {
  const undone = changes.every(
    (change) =>
      change.whole === "undone" || (change.hunks ?? []).some(({ state }) => state === "undone"),
  );
  return undone ? "undone" : "kept";
}

function files(changes: readonly ChangeItem[]): string {
  const { size: count } = new Set(changes.map((change) => change.path));
  return count === 1 ? "1 file" : `${count} files`;
}
