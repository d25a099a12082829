// The tree of sessions: those that are alive, and the past ones.

import * as vscode from "vscode";
import type { SessionHead, SessionState } from "../protocol.gen";
import { title } from "../common/messages";
import { oneLine } from "../common/plainText";
import { commandIds } from "./manifest.gen";
import type { Sessions } from "./sessions";

const LOOKS: Readonly<Record<SessionState, Looks>> = {
  starting: ["loading~spin", "starting"],
  idle: ["comment", "ready"],
  running: ["loading~spin", "working"],
  waiting_for_you: ["question", "waits for you", "notificationsWarningIcon.foreground"],
  waiting_for_agent: ["watch", "waits for another agent"],
  failed: ["error", "failed", "notificationsErrorIcon.foreground"],
  closed: ["circle-slash", "closed"],
};

export function stateWords(head: SessionHead): string {
  const words = looks(head)[1];
  const detail = head.detail ?? "";
  return detail === "" ? words : `${words}: ${oneLine(detail, 120)}`;
}

/** A session, all past ones, or what asks for more of them. */
export type SessionNode = SessionHead | "past" | "more";

export class SessionTree implements vscode.TreeDataProvider<SessionNode> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly sessions: Sessions) {
    sessions.onChange(() => this.changed.fire());
  }

  getChildren(node?: SessionNode): SessionNode[] {
    const past = this.sessions.all.filter((head) => head.place === "past");
    if (node === "past") return this.sessions.hasMore ? [...onTop(past), "more"] : onTop(past);
    if (node === "more") return [];
    if (node !== undefined) return this.below(node);
    const live = this.sessions.all.filter((head) => head.place !== "past");
    return past.length === 0 ? onTop(live) : [...onTop(live), "past"];
  }

  /** The sessions that one has started, the oldest first. */
  private below(head: SessionHead): SessionHead[] {
    return this.sessions.all
      .filter((one) => one.orchestrator === head.id && isPast(one) === isPast(head))
      .sort((a, b) => a.created - b.created);
  }

  getTreeItem(node: SessionNode): vscode.TreeItem {
    if (node === "past") {
      const item = new vscode.TreeItem("Past", vscode.TreeItemCollapsibleState.Expanded);
      item.id = "past";
      item.contextValue = "past";
      return item;
    }
    if (node === "more") {
      const item = new vscode.TreeItem("More…");
      item.command = { command: commandIds.moreSessions, title: "More" };
      return item;
    }
    const item = sessionItem(node);
    if (this.below(node).length > 0)
      item.collapsibleState = vscode.TreeItemCollapsibleState.Expanded;
    return item;
  }
}

function isPast(head: SessionHead): boolean {
  return head.place === "past";
}

/** Those that nobody started who is in the list, too. */
function onTop(heads: readonly SessionHead[]): SessionHead[] {
  const known = new Set(heads.map((head) => head.id));
  return heads.filter((head) => !known.has(head.orchestrator ?? ""));
}

function sessionItem(head: SessionHead): vscode.TreeItem {
  const name = (head.name ?? "") === "" ? "" : `${oneLine(head.name ?? "", 40)}: `;
  const item = new vscode.TreeItem(`${name}${oneLine(title(head), 80)}`);
  const [icon, words, colour] = looks(head);
  item.id = head.id;
  item.description = `${head.agent} · ${words}`;
  item.iconPath = new vscode.ThemeIcon(
    icon,
    colour === undefined ? undefined : new vscode.ThemeColor(colour),
  );
  item.tooltip = `${oneLine(title(head), 200)}\n${head.agent} in ${head.cwd}\n${stateWords(head)}`;
  item.contextValue = `session.${head.turnRunning === true ? "running" : (head.place ?? "here")}`;
  item.command = { command: commandIds.showSession, title: "Show", arguments: [head.id] };
  item.accessibilityInformation = {
    label: `${oneLine(title(head), 80)}, ${head.agent}, ${words}`,
  };
  return item;
}

type Looks = readonly [icon: string, words: string, colour?: string];

function looks(head: SessionHead): Looks {
  const warning = "notificationsWarningIcon.foreground";
  if (head.place === "past") {
    const day = new Date(head.lastSign * 1000).toLocaleDateString();
    return [
      head.archived === true ? "archive" : "history",
      head.archived ? `archived, ${day}` : day,
    ];
  }
  if (head.place === "elsewhere") return ["window", "in another window"];
  if ((head.login ?? []).length > 0) return ["key", "wants a login", warning];
  if (head.stuck === true) return ["warning", "no sign of life", warning];
  return LOOKS[head.state];
}
