// Installing the server: only what a person chose, in a terminal where it can be seen.

import * as vscode from "vscode";
import { isProgram } from "./environments";
import { onPath } from "./findServer";
import type { Server } from "./server";

interface Way extends vscode.QuickPickItem {
  readonly line?: string;
  readonly needs?: string;
}

const WAYS: readonly Way[] = [
  { label: "uv tool install agentls", line: "uv tool install agentls", needs: "uv" },
  { label: "pipx install agentls", line: "pipx install agentls", needs: "pipx" },
  { label: "pip install agentls", line: "python3 -m pip install --user agentls", needs: "python3" },
  { label: "Run it with uvx", detail: "uvx downloads it and keeps it in its cache.", needs: "uvx" },
  { label: "I have it already…", detail: "Opens the setting for the command." },
];

export async function installServer(server: Server): Promise<void> {
  const around = { path: process.env["PATH"] ?? "", platform: process.platform, isProgram };
  const ways = WAYS.filter(
    (way) => way.needs === undefined || onPath(way.needs, around) !== undefined,
  );
  const way = await vscode.window.showQuickPick(ways, {
    placeHolder: "How should the agentls server be installed?",
  });
  if (!way) return;
  if (way.needs === "uvx") return server.allowUvx();
  if (way.line === undefined) {
    await vscode.commands.executeCommand("workbench.action.openSettings", "agentls.server.command");
    return;
  }
  const terminal = vscode.window.createTerminal("Install agentls");
  terminal.show();
  terminal.sendText(way.line);
  const again = "Start";
  const chosen = await vscode.window.showInformationMessage(
    "When the installation in the terminal is done, start the server.",
    again,
  );
  if (chosen === again) await server.restart();
}
