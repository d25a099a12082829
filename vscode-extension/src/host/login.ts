// Logging in to an agent: a person sees the program before it is run.

import * as vscode from "vscode";
import { methods, type LoginMethod, type LoginResult } from "../protocol.gen";
import { forNotification, oneLine } from "../common/plainText";
import type { Context } from "./context";

export async function logIn(context: Context, sessionId: string, method = ""): Promise<void> {
  const head = context.sessions.head(sessionId);
  const ways = head?.login ?? [];
  if (!head || ways.length === 0) throw new Error("The agent of this session wants no login.");
  const way = method === "" ? await chosen(ways) : method;
  if (way === undefined) return;
  const params = { agent: head.agent, method: way, sessionId };
  let result = await context.server.request(methods.agentLogin, params);
  if (result.state === "confirm") {
    const run = "Run";
    const detail = oneLine(result.command ?? "", 1000);
    const answer = await vscode.window.showWarningMessage(
      forNotification(result.text, 300),
      { modal: true, detail },
      run,
    );
    if (answer !== run) return;
    result = await context.server.request(methods.agentLogin, { ...params, confirmed: true });
  }
  await told(context, result);
}

async function chosen(ways: readonly LoginMethod[]): Promise<string | undefined> {
  if (ways.length === 1) return ways[0]?.id;
  const items = ways.map((way) => ({
    label: oneLine(way.name, 80),
    detail: oneLine(way.description ?? "", 200),
    id: way.id,
  }));
  return (await vscode.window.showQuickPick(items, { placeHolder: "How do you want to log in?" }))
    ?.id;
}

async function told(context: Context, result: LoginResult): Promise<void> {
  const { sessionId = "", terminalId = "" } = result;
  const terminal = terminalId === "" ? undefined : context.terminals.find(sessionId, terminalId);
  if (terminal) context.terminals.show(terminal);
  const say =
    result.state === "variables"
      ? vscode.window.showWarningMessage
      : vscode.window.showInformationMessage;
  await say(forNotification(result.text, 400));
}
