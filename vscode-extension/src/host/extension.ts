// Where VS Code comes in. The server is started by the first thing that needs it, not here.

import type * as vscode from "vscode";
import { registerCommands } from "./commands";
import { Context } from "./context";

let context: Context | undefined;

export function activate(extension: vscode.ExtensionContext): { readonly context: Context } {
  context = new Context(extension.extensionUri, extension.globalState, extension.workspaceState);
  extension.subscriptions.push(registerCommands(context));
  return { context };
}

export async function deactivate(): Promise<void> {
  const ending = context;
  context = undefined;
  await ending?.server.stop();
  ending?.dispose();
}
