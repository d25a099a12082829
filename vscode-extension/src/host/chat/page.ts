// One page, in the side bar or in a tab: what it shows, and what a person does in it.

import * as vscode from "vscode";
import { methods } from "../../protocol.gen";
import { title, type FromPage, type ToPage } from "../../common/messages";
import type { Context } from "../context";
import { commandIds } from "../manifest.gen";
import { text } from "../server";
import type { Followed } from "../sessions";
import { html } from "./html";
import { attachmentOf, fileAttachment, mentions } from "./mentions";
import { logIn } from "../login";
import { size } from "../review/changes";
import { follow, showDiff, showText } from "./open";

/** How many entries travel to a page at once: more would be felt. */
const SLICE = 250;
/** What a page may run: the buttons it shows for a server that does not run. */
const RUNNABLE: ReadonlySet<string> = new Set([
  commandIds.installServer,
  commandIds.restartServer,
  commandIds.showLog,
  commandIds.trust,
]);

const KEPT = "agentls.chat";

export class Page implements vscode.Disposable {
  private readonly parts: vscode.Disposable[] = [];
  private readonly waiting: ToPage[] = [];
  private ready = false;
  private agent = "";

  constructor(
    private readonly context: Context,
    private readonly webview: vscode.Webview,
    /** Empty until there is a session. */
    public sessionId: string,
    private readonly titled: (title: string) => void,
    private readonly kept?: vscode.Memento,
  ) {
    webview.options = {
      enableScripts: true,
      localResourceRoots: [vscode.Uri.joinPath(context.extension, "dist", "page")],
    };
    webview.html = html(webview, context.extension);
    this.parts.push(
      webview.onDidReceiveMessage((message: FromPage) => void this.receive(message)),
      context.sessions.onFollow((followed) => this.follow(followed)),
      context.changes.onChange(() => this.tellChanges()),
      context.server.onState((server) => {
        this.post({ type: "server", server });
        if (server.state === "running" && this.ready) void this.begin();
      }),
    );
  }

  show(sessionId: string): void {
    this.sessionId = sessionId;
    if (this.ready) void this.begin();
  }

  /** Sends now, or as soon as the page is there. */
  post(message: ToPage): void {
    if (this.ready) void this.webview.postMessage(message);
    else this.waiting.push(message);
  }

  dispose(): void {
    for (const part of this.parts) part.dispose();
  }

  private follow(followed: Followed): void {
    if (!this.ready || this.sessionId === "") return;
    if (followed.type === "batch") {
      if (followed.batch.sessionId !== this.sessionId) return;
      this.post(followed);
      if (followed.batch.changes.some((change) => change.type === "session")) this.retitle();
      return;
    }
    const { snapshot } = followed;
    if (snapshot.session.id !== this.sessionId) return;
    const whole = snapshot.entries.length;
    const newest = snapshot.entries.slice(Math.max(0, whole - SLICE));
    for (let at = 0; at < whole - SLICE; at += SLICE) {
      this.post({
        type: "part",
        entries: snapshot.entries.slice(at, Math.min(at + SLICE, whole - SLICE)),
      });
    }
    this.post({ type: "snapshot", snapshot: { ...snapshot, entries: newest } });
    this.retitle();
  }

  private retitle(): void {
    const head = this.context.sessions.head(this.sessionId);
    this.titled(head ? title(head) : "");
  }

  private async begin(): Promise<void> {
    try {
      const { agents, default: chosen } = await this.context.server.request(methods.agents, {});
      if (this.agent === "") this.agent = chosen;
      const choices = agents.map(({ name, title }) => ({ name, title }));
      this.post({ type: "agents", agents: choices, chosen: this.agent });
      if (this.sessionId === "") this.post({ type: "empty" });
      else await this.readOrForget();
      this.tellChanges();
    } catch (error) {
      if (this.context.server.state.state === "running") this.problem(error);
      else this.post({ type: "empty" });
    }
  }

  /** A session that was shown before a reload may have been deleted meanwhile. */
  private async readOrForget(): Promise<void> {
    try {
      await this.context.sessions.read(this.sessionId);
    } catch (error) {
      if (this.context.server.state.state !== "running") throw error;
      this.sessionId = "";
      this.post({ type: "empty" });
    }
  }

  private tellChanges(): void {
    const mine = this.context.changes.pending.filter(
      (change) => change.sessionId === this.sessionId,
    );
    const files = new Set(mine.map((change) => change.path)).size;
    this.post({ type: "changes", files, lines: size(mine) });
  }

  private problem(error: unknown): void {
    // A server that does not run is told above already.
    if (this.context.server.state.state === "stopped") return;
    this.post({ type: "problem", text: text(error) });
  }

  // -- what the page says

  private async receive(message: FromPage): Promise<void> {
    try {
      await this.act(message);
    } catch (error) {
      this.problem(error);
      if (message.type === "prompt") this.post({ type: "sent", ok: false });
    }
  }

  private async act(message: FromPage): Promise<void> {
    const { server, sessions } = this.context;
    const { sessionId } = this;
    switch (message.type) {
      case "ready":
        return this.started(message.sessionId, message.draft);
      case "keep":
        await this.kept?.update(KEPT, { sessionId: message.sessionId, draft: message.draft });
        return;
      case "resync":
        return sessions.read(sessionId);
      case "older":
        return sessions.readOlder(sessionId);
      case "prompt":
        return this.prompt(message);
      case "cancel":
        return this.context.stop(sessionId, (draft) => this.post({ type: "draft", text: draft }));
      case "decide":
        return this.context.asks.decide(message.params);
      case "answer":
        return this.answer(message.questionId, message.text);
      case "pick":
        return this.pick(message.what);
      case "pickOption":
        return this.context.pickers.option(sessionId, message.option);
      case "link":
        return follow(message.href, sessions.head(sessionId)?.cwd ?? "");
      case "showDiff":
        return showDiff(message.path, { sessionId, entryId: message.entryId, part: message.part });
      case "showBody":
        return showText({ sessionId, entryId: message.entryId, part: message.part });
      case "insert":
        return insert(message.text);
      case "mentions": {
        this.post({
          type: "mentions",
          query: message.query,
          items: await mentions(message.query),
        });
        return;
      }
      case "mention": {
        this.post({ type: "attach", attachment: await attachmentOf(message.id) });
        return;
      }
      case "attachFiles":
        return this.attachFiles();
      case "files":
        for (const uri of message.uris.slice(0, 20))
          this.post({ type: "attach", attachment: fileAttachment(vscode.Uri.parse(uri, true)) });
        return;
      case "terminal": {
        const { terminals } = this.context;
        const terminal = terminals.find(sessionId, message.terminalId);
        if (terminal) {
          terminals.show(terminal);
          return;
        }
        const { text } = await server.request(methods.sessionBody, {
          sessionId,
          entryId: message.entryId,
          part: message.terminalId,
        });
        terminals.showPast(text);
        return;
      }
      case "changes":
        return this.review(message.what);
      case "editProposal":
        return this.context.proposals.open(message.askId);
      case "login":
        return logIn(this.context, sessionId, message.method);
      case "restart":
        sessions.put((await server.request(methods.sessionRestart, { sessionId })).session);
        return;
      case "run":
        if (RUNNABLE.has(message.command)) await vscode.commands.executeCommand(message.command);
        return;
    }
  }

  private async started(remembered: string, draft: string): Promise<void> {
    this.ready = true;
    const kept = this.kept?.get<{ readonly sessionId: string; readonly draft: string }>(KEPT);
    if (this.sessionId === "") this.sessionId = remembered || (kept?.sessionId ?? "");
    if (draft === "" && kept && kept.draft !== "") this.post({ type: "draft", text: kept.draft });
    this.post({ type: "server", server: this.context.server.state });
    for (const message of this.waiting.splice(0)) this.post(message);
    await this.begin();
  }

  private async prompt(message: Extract<FromPage, { type: "prompt" }>): Promise<void> {
    const { server, sessions } = this.context;
    const head = sessions.head(this.sessionId);
    if (message.instead && head?.turnRunning === true)
      await server.request(methods.sessionCancel, { sessionId: this.sessionId });
    const result = await server.request(methods.sessionPrompt, {
      ...(head ? { sessionId: this.sessionId } : { agent: this.agent }),
      text: message.text,
      blocks: message.blocks,
    });
    this.post({ type: "sent", ok: true });
    if (result.sessionId !== this.sessionId) {
      this.sessionId = result.sessionId;
      await sessions.read(this.sessionId);
    }
  }

  private async answer(questionId: string, given: string): Promise<void> {
    const text = given || (await vscode.window.showInputBox({ prompt: "Your answer" })) || "";
    if (text === "") return;
    await this.context.server.request(methods.questionAnswer, { questionId, text });
  }

  private async review(what: "review" | "keep" | "undo"): Promise<void> {
    const { sessionId } = this;
    const node = { kind: "session", sessionId } as const;
    if (what === "review") await vscode.commands.executeCommand(commandIds.reviewChanges, node);
    else await this.context.changes.decide(what, { sessionId });
  }

  private async pick(what: "agent" | "mode" | "policy"): Promise<void> {
    if (what === "mode") return this.context.pickers.mode(this.sessionId);
    if (what === "policy") return this.context.pickers.policy(this.sessionId);
    const agent = await this.context.pickers.agent(this.agent);
    if (agent === undefined) return;
    this.agent = agent;
    await this.begin();
  }

  private async attachFiles(): Promise<void> {
    const found = await vscode.window.showOpenDialog({ canSelectMany: true, openLabel: "Attach" });
    for (const uri of found ?? []) this.post({ type: "attach", attachment: fileAttachment(uri) });
  }
}

async function insert(code: string): Promise<void> {
  const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
  if (!editor) throw new Error("No editor is open to insert it into.");
  await editor.edit((edit) => edit.replace(editor.selection, code));
}
