// Sessions: what their commands do. Without a session named it is the one in view.

import * as vscode from "vscode";
import { methods, type SessionHead } from "../protocol.gen";
import { title } from "../common/messages";
import { oneLine } from "../common/plainText";
import type { Context } from "./context";
import { logIn } from "./login";
import { searchSessions } from "./search";

export const sessionCommands = {
  newSession: (context: Context) => context.chats.show(""),
  newSessionWith: async (context: Context) => {
    const agent = await context.pickers.agent("");
    if (agent === undefined) return;
    const { session } = await context.server.request(methods.sessionNew, { agent });
    context.sessions.put(session);
    await context.chats.show(session.id);
  },
  pickSession: async (context: Context) => {
    const head = await context.pickers.session();
    if (head) await context.chats.show(head.id);
  },
  showSession: (context: Context, argument: unknown) =>
    context.chats.show(sessionOf(context, argument)),
  openInEditor: (context: Context, argument: unknown) =>
    context.chats.openTab(sessionOf(context, argument)),
  searchSessions: (context: Context) => searchSessions(context),
  moreSessions: (context: Context) => context.sessions.more(),
  showArchived: (context: Context) => context.sessions.toggleArchived(),
  resumeSession: async (context: Context, argument: unknown) => {
    const { id: sessionId } = needed(context, argument);
    const { session } = await context.server.request(methods.sessionResume, { sessionId });
    context.sessions.put(session);
    await context.chats.show(session.id);
  },
  stop: (context: Context, argument: unknown) =>
    context.stop(
      needed(context, argument).id,
      (text) => void context.chats.open().then((page) => page?.post({ type: "draft", text })),
    ),
  setMode: (context: Context, argument: unknown) =>
    context.pickers.mode(needed(context, argument).id),
  setOption: (context: Context, argument: unknown) =>
    context.pickers.option(needed(context, argument).id),
  setPolicy: (context: Context, argument: unknown) =>
    context.pickers.policy(needed(context, argument).id),
  renameSession: async (context: Context, argument: unknown) => {
    const head = needed(context, argument);
    const name = await vscode.window.showInputBox({
      prompt: "A new name for the session; empty for its first prompt",
      value: title(head),
      ignoreFocusOut: true,
    });
    if (name === undefined) return;
    await context.server.request(methods.sessionRename, { sessionId: head.id, title: name });
    await context.sessions.list();
  },
  forkSession: async (context: Context, argument: unknown) => {
    const { session } = await context.server.request(methods.sessionFork, {
      sessionId: needed(context, argument).id,
    });
    context.sessions.put(session);
    await context.chats.show(session.id);
  },
  exportSession: async (context: Context, argument: unknown) => {
    const { markdown } = await context.server.request(methods.sessionExport, {
      sessionId: needed(context, argument).id,
    });
    const document = await vscode.workspace.openTextDocument({
      language: "markdown",
      content: markdown,
    });
    await vscode.window.showTextDocument(document);
  },
  restartAgent: async (context: Context, argument: unknown) => {
    const { session } = await context.server.request(methods.sessionRestart, {
      sessionId: needed(context, argument).id,
    });
    context.sessions.put(session);
  },
  closeSession: async (context: Context, argument: unknown) => {
    const sessionId = needed(context, argument).id;
    await context.server.request(methods.sessionClose, { sessionId });
  },
  archiveSession: async (context: Context, argument: unknown) => {
    const { id: sessionId, archived } = needed(context, argument);
    await context.server.request(methods.sessionArchive, {
      sessionId,
      archived: archived !== true,
    });
    await context.sessions.list();
  },
  deleteSession: async (context: Context, argument: unknown) => {
    const head = needed(context, argument);
    const yes = "Delete";
    const chosen = await vscode.window.showWarningMessage(
      "Delete this session for good?",
      { modal: true, detail: oneLine(title(head), 200) },
      yes,
    );
    if (chosen !== yes) return;
    await context.server.request(methods.sessionDelete, { sessionId: head.id });
    await context.sessions.list();
  },
  login: (context: Context, argument: unknown) => logIn(context, sessionOf(context, argument)),
};

function sessionOf(context: Context, argument: unknown): string {
  if (typeof argument === "string") return argument;
  if (typeof argument === "object" && argument !== null && "id" in argument && "agent" in argument)
    return (argument as SessionHead).id;
  return context.chats.current;
}

function needed(context: Context, argument: unknown): SessionHead {
  const head = context.sessions.head(sessionOf(context, argument));
  if (!head) throw new Error("No session is open. Start one in the chat first.");
  return head;
}
