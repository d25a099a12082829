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
  waiting_for_agent: ["watch", "waiting for the agent"],
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
    if (node === "past") return this.sessions.hasMore ? [...past, "more"] : past;
    if (node !== undefined) return [];
    const live = this.sessions.all.filter((head) => head.place !== "past");
    return past.length === 0 ? live : [...live, "past"];
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
    return sessionItem(node);
  }
}

function sessionItem(head: SessionHead): vscode.TreeItem {
  const item = new vscode.TreeItem(oneLine(title(head), 80));
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
