// The item in the status bar: what the server does, and how many asks wait.

import * as vscode from "vscode";
import { commandIds } from "./manifest.gen";
import type { Server } from "./server";
import type { Sessions } from "./sessions";

export function statusBar(server: Server, sessions: Sessions): vscode.Disposable {
  const item = vscode.window.createStatusBarItem(
    "agentls.status",
    vscode.StatusBarAlignment.Right,
    90,
  );
  item.name = "agentls";
  item.command = commandIds.menu;
  const draw = () => {
    const asks = sessions.openAsks.length;
    const running = sessions.all.filter((head) => head.turnRunning === true).length;
    const { text, tooltip } = words(server, asks, running);
    item.text = text;
    item.tooltip = tooltip;
    item.accessibilityInformation = { label: tooltip, role: "button" };
    item.backgroundColor =
      asks > 0 ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
  };
  draw();
  item.show();
  return vscode.Disposable.from(item, server.onState(draw), sessions.onChange(draw));
}

function words(
  server: Server,
  asks: number,
  running: number,
): { readonly text: string; readonly tooltip: string } {
  const { state } = server;
  if (state.state === "idle")
    return { text: "$(hubot) Agents", tooltip: "agentls has not started yet" };
  if (state.state === "starting")
    return { text: "$(loading~spin) Agents", tooltip: "agentls is starting" };
  if (state.state === "stopped")
    return { text: "$(circle-slash) Agents", tooltip: `agentls: ${state.message}` };
  if (asks > 0) {
    const tooltip =
      asks === 1 ? "An agent waits for your answer" : `${asks} asks wait for your answer`;
    return { text: `$(question) ${asks} ${asks === 1 ? "ask" : "asks"}`, tooltip };
  }
  if (running > 0)
    return { text: `$(loading~spin) Agents: ${running}`, tooltip: `${running} agents are working` };
  return { text: "$(hubot) Agents", tooltip: "agentls is ready" };
}
