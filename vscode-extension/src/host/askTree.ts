// The inbox: every open ask of every session, oldest first.

import * as vscode from "vscode";
import type { AskItem } from "../protocol.gen";
import { oneLine, visible } from "../common/plainText";
import { commandIds } from "./manifest.gen";
import type { Sessions } from "./sessions";

export class AskTree implements vscode.TreeDataProvider<AskItem> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;

  constructor(private readonly sessions: Sessions) {
    sessions.onChange(() => this.changed.fire());
  }

  getChildren(element?: AskItem): AskItem[] {
    return element ? [] : [...this.sessions.openAsks];
  }

  getTreeItem(ask: AskItem): vscode.TreeItem {
    const item = new vscode.TreeItem(oneLine(ask.shown || ask.title, 120));
    item.id = ask.askId;
    item.description = ask.agent;
    item.iconPath = new vscode.ThemeIcon(
      "question",
      new vscode.ThemeColor("notificationsWarningIcon.foreground"),
    );
    item.tooltip = visible(
      [ask.title, ask.shown ?? "", ask.why ?? ""]
        .filter((line) => line !== "")
        .join("\n")
        .slice(0, 2000),
    );
    item.contextValue = "ask";
    item.command = { command: commandIds.answerAsk, title: "Answer", arguments: [ask.askId] };
    item.accessibilityInformation = { label: `${ask.agent} asks: ${oneLine(ask.title, 120)}` };
    return item;
  }
}
