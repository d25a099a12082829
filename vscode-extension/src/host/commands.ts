// What each command of package.json does. A command takes the ids it is about; without one it is
// about the session in view.

import * as vscode from "vscode";
import { methods, type AskItem, type TerminalItem } from "../protocol.gen";
import { oneLine } from "../common/plainText";
import { told } from "./asks";
import { fileAttachment, selectionAttachment } from "./chat/mentions";
import type { Context } from "./context";
import { installServer } from "./install";
import { commandIds } from "./manifest.gen";
import { reviewCommands } from "./review/commands";
import { sessionCommands } from "./sessionCommands";

type Argument = string | AskItem | TerminalItem | vscode.Uri | undefined;
type Run = (context: Context, argument: Argument) => unknown;

const RUNS: Readonly<Record<keyof typeof commandIds, Run>> = {
  openChat: (context) => context.chats.open(),
  ...sessionCommands,
  answerAsk: (context, argument) => context.asks.answer(askIdOf(argument)),
  allow: (context, argument) =>
    withAsk(context, argument, ({ askId }) => context.asks.decide({ askId, verdict: "allow" })),
  reject: (context, argument) =>
    withAsk(context, argument, ({ askId }) => context.asks.decide({ askId, verdict: "reject" })),
  rejectAndSayWhy: (context, argument) =>
    withAsk(context, argument, (ask) => context.asks.rejectAndSayWhy(ask)),
  alwaysAllow: (context, argument) => withAsk(context, argument, (ask) => context.asks.always(ask)),
  editProposal: (context, argument) =>
    withAsk(context, argument, ({ askId }) => context.proposals.open(askId)),
  showAsk: (context, argument) =>
    withAsk(context, argument, ({ askId }) => context.server.request(methods.askShow, { askId })),
  allowAll: (context) => context.asks.all("allow"),
  rejectAll: (context) => context.asks.all("reject"),
  ...reviewCommands,
  attachSelection: async (context) => {
    const attachment = selectionAttachment();
    (await context.chats.open())?.post({ type: "attach", attachment });
  },
  attachFile: async (context, argument) => {
    const uri =
      argument instanceof vscode.Uri ? argument : vscode.window.activeTextEditor?.document.uri;
    if (!uri) throw new Error("No file is open. Open one first, or choose it in the explorer.");
    (await context.chats.open())?.post({ type: "attach", attachment: fileAttachment(uri) });
  },
  showTerminal: (context, argument) => context.terminals.show(terminalOf(argument)),
  killTerminal: (context, argument) => context.terminals.kill(terminalOf(argument)),
  showRules: (context) => context.pickers.rules(),
  restartServer: (context) => context.server.restart(),
  showLog: (context) => context.server.log.show(true),
  showTraffic: (context) => context.server.showTraffic(),
  saveRecording: async (context) => {
    const { path } = await context.server.request(methods.recordingSave, {});
    const show = "Show";
    const chosen = await vscode.window.showInformationMessage(
      `Saved to ${oneLine(path, 200)}. Read it before you share it.`,
      show,
    );
    if (chosen === show) await vscode.window.showTextDocument(vscode.Uri.file(path));
  },
  installServer: (context) => installServer(context.server),
  trust: () => vscode.commands.executeCommand("workbench.trust.manage"),
  menu: (context) => menu(context),
};

export function registerCommands(context: Context): vscode.Disposable {
  const names = Object.keys(RUNS) as (keyof typeof commandIds)[];
  return vscode.Disposable.from(
    ...names.map((name) =>
      vscode.commands.registerCommand(commandIds[name], (argument: Argument) =>
        told(() => RUNS[name](context, argument)),
      ),
    ),
  );
}

function terminalOf(argument: Argument): TerminalItem {
  if (typeof argument === "object" && "terminalId" in argument) return argument;
  throw new Error("Choose a terminal in the list of terminals.");
}

function askIdOf(argument: Argument): string | undefined {
  if (typeof argument === "string") return argument;
  return argument && "askId" in argument ? argument.askId : undefined;
}

async function withAsk(
  context: Context,
  argument: Argument,
  work: (ask: AskItem) => Promise<unknown>,
): Promise<void> {
  const id = argument instanceof vscode.Uri ? context.proposals.askOf(argument) : askIdOf(argument);
  const ask = context.asks.find(id);
  if (ask) await work(ask);
  else void vscode.window.setStatusBarMessage("$(info) This ask has been answered already.", 5000);
}

async function menu(context: Context): Promise<void> {
  if (context.sessions.openAsks.length > 0) return context.asks.answer();
  const { state } = context.server;
  const items: (vscode.QuickPickItem & { readonly command: string })[] = [
    { label: "$(comment-discussion) Open Chat", command: commandIds.openChat },
    { label: "$(add) New Session", command: commandIds.newSession },
    { label: "$(history) Switch Session…", command: commandIds.pickSession },
    { label: "$(diff-multiple) Review Changes", command: commandIds.reviewChanges },
    { label: "$(law) List Rules", command: commandIds.showRules },
    { label: "$(debug-restart) Restart Server", command: commandIds.restartServer },
    { label: "$(output) Show Log", command: commandIds.showLog },
  ];
  if (state.state === "stopped" && state.action)
    items.unshift({
      label: `$(warning) ${state.action.label}`,
      description: state.message,
      command: state.action.command,
    });
  const chosen = await vscode.window.showQuickPick(items, { placeHolder: "agentls" });
  if (chosen) await vscode.commands.executeCommand(chosen.command);
}
