// What each command of package.json does. A command takes the ids it is about; without one it is
// about the session in view.

import * as vscode from "vscode";
import { methods, type AskItem, type SessionHead, type TerminalItem } from "../protocol.gen";
import { oneLine } from "../common/plainText";
import { told } from "./asks";
import { fileAttachment, selectionAttachment } from "./chat/mentions";
import type { Context } from "./context";
import { installServer } from "./install";
import { commandIds } from "./manifest.gen";

type Argument = string | SessionHead | AskItem | TerminalItem | vscode.Uri | undefined;
type Run = (context: Context, argument: Argument) => unknown;

const RUNS: Readonly<Record<keyof typeof commandIds, Run>> = {
  openChat: (context) => context.chats.open(),
  newSession: (context) => context.chats.show(""),
  newSessionWith: async (context) => {
    const agent = await context.pickers.agent("");
    if (agent === undefined) return;
    const { session } = await context.server.request(methods.sessionNew, { agent });
    context.sessions.put(session);
    await context.chats.show(session.id);
  },
  pickSession: async (context) => {
    const head = await context.pickers.session();
    if (head) await context.chats.show(head.id);
  },
  showSession: (context, argument) => context.chats.show(sessionOf(context, argument)),
  openInEditor: (context, argument) => context.chats.openTab(sessionOf(context, argument)),
  stop: (context, argument) =>
    context.stop(
      needed(context, argument),
      (text) => void context.chats.open().then((page) => page?.post({ type: "draft", text })),
    ),
  setMode: (context, argument) => context.pickers.mode(needed(context, argument)),
  setOption: (context, argument) => context.pickers.option(needed(context, argument)),
  setPolicy: (context, argument) => context.pickers.policy(needed(context, argument)),
  forkSession: async (context, argument) => {
    const { session } = await context.server.request(methods.sessionFork, {
      sessionId: needed(context, argument),
    });
    context.sessions.put(session);
    await context.chats.show(session.id);
  },
  exportSession: async (context, argument) => {
    const { markdown } = await context.server.request(methods.sessionExport, {
      sessionId: needed(context, argument),
    });
    const document = await vscode.workspace.openTextDocument({
      language: "markdown",
      content: markdown,
    });
    await vscode.window.showTextDocument(document);
  },
  restartAgent: async (context, argument) => {
    const { session } = await context.server.request(methods.sessionRestart, {
      sessionId: needed(context, argument),
    });
    context.sessions.put(session);
  },
  closeSession: async (context, argument) => {
    const sessionId = needed(context, argument);
    await context.server.request(methods.sessionClose, { sessionId });
  },
  answerAsk: (context, argument) => context.asks.answer(askIdOf(argument)),
  allow: (context, argument) =>
    withAsk(context, argument, ({ askId }) => context.asks.decide({ askId, verdict: "allow" })),
  reject: (context, argument) =>
    withAsk(context, argument, ({ askId }) => context.asks.decide({ askId, verdict: "reject" })),
  rejectAndSayWhy: (context, argument) =>
    withAsk(context, argument, (ask) => context.asks.rejectAndSayWhy(ask)),
  alwaysAllow: (context, argument) => withAsk(context, argument, (ask) => context.asks.always(ask)),
  showAsk: (context, argument) =>
    withAsk(context, argument, ({ askId }) => context.server.request(methods.askShow, { askId })),
  allowAll: (context) => context.asks.all("allow"),
  rejectAll: (context) => context.asks.all("reject"),
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

function sessionOf(context: Context, argument: Argument): string {
  if (typeof argument === "string") return argument;
  if (argument && "agent" in argument && "id" in argument) return argument.id;
  return context.chats.current;
}

function needed(context: Context, argument: Argument): string {
  const id = sessionOf(context, argument);
  if (id === "" || !context.sessions.head(id))
    throw new Error("No session is open. Start one in the chat first.");
  return id;
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
  const ask = context.asks.find(askIdOf(argument));
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
