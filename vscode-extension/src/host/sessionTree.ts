// The tree of sessions.

import * as vscode from "vscode";
import type { SessionHead, SessionState } from "../protocol.gen";
import { title } from "../common/messages";
import { oneLine } from "../common/plainText";
import { commandIds } from "./manifest.gen";
import type { Sessions } from "./sessions";

const LOOKS: Readonly<
  Record<SessionState, readonly [icon: string, words: string, colour?: string]>
> = {
  starting: ["loading~spin", "starting"],
  idle: ["comment", "ready"],
  running: ["loading~spin", "working"],
  waiting_for_you: ["question", "waits for you", "notificationsWarningIcon.foreground"],
  waiting_for_agent: ["watch", "waiting for the agent"],
  failed: ["error", "failed", "notificationsErrorIcon.foreground"],
  closed: ["circle-slash", "closed"],
};

export function stateWords(head: SessionHead): string {
  const words = LOOKS[head.state][1];
  const detail = head.detail ?? "";
  return detail === "" ? words : `${words}: ${oneLine(detail, 120)}`;
}

export class SessionTree implements vscode.TreeDataProvider<SessionHead> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly sessions: Sessions) {
    sessions.onChange(() => this.changed.fire());
  }

  getChildren(element?: SessionHead): SessionHead[] {
    return element ? [] : [...this.sessions.all];
  }

  getTreeItem(head: SessionHead): vscode.TreeItem {
    const item = new vscode.TreeItem(oneLine(title(head), 80));
    const [icon, words, colour] = LOOKS[head.state];
    item.id = head.id;
    item.description = `${head.agent} · ${words}`;
    item.iconPath = new vscode.ThemeIcon(
      icon,
      colour === undefined ? undefined : new vscode.ThemeColor(colour),
    );
    item.tooltip = `${title(head)}\n${head.agent} in ${head.cwd}\n${stateWords(head)}`;
    item.contextValue = head.turnRunning === true ? "session.running" : "session";
    item.command = { command: commandIds.showSession, title: "Show", arguments: [head.id] };
    item.accessibilityInformation = {
      label: `${oneLine(title(head), 80)}, ${head.agent}, ${words}`,
    };
    return item;
  }
}
