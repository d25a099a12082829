// The server process and the connection to it: found, started, stopped, restarted.
//
// Invariant: nothing is started in a folder that is not trusted, and at most one server runs. After
// every start the same listeners hear of it, so the rest of the extension outlives a restart.

import * as vscode from "vscode";
import {
  LanguageClient,
  RevealOutputChannelOn,
  State,
  type ServerOptions,
} from "vscode-languageclient/node";
import {
  commands,
  PROTOCOL_VERSION,
  type DocumentParams,
  type DocumentSaveResult,
  type Notifications,
  type Requests,
} from "../protocol.gen";
import type { ServerState } from "../common/messages";
import { answerAboutCode } from "./code";
import { environments, isProgram } from "./environments";
import { findServer } from "./findServer";
import { commandIds, serverSettings } from "./manifest.gen";

const UVX_ALLOWED = "agentls.uvxAllowed";

/** What other editors open a document for has its own place here. */
const OWN_WAYS: Readonly<Record<string, string>> = {
  [commands.askReason]: commandIds.rejectAndSayWhy,
  [commands.askProposal]: commandIds.editProposal,
};

/** What goes wrong is told once, in the chat and the status bar; the log has the rest. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

export class Server implements vscode.Disposable {
  readonly log = vscode.window.createOutputChannel("agentls", { log: true });
  private readonly traffic = vscode.window.createOutputChannel("agentls (traffic)", { log: true });
  private readonly stateChanged = new vscode.EventEmitter<ServerState>();
  /** Who hears what the server tells, by method; they outlive a restart. */
  private readonly listeners = new Map<string, Set<(params: never) => void>>();
  private client: LanguageClient | undefined;
  private starting: Promise<boolean> | undefined;
  private current: ServerState = { state: "idle" };

  readonly onState = this.stateChanged.event;

  constructor(private readonly storage: vscode.Memento) {}

  get state(): ServerState {
    return this.current;
  }

  get isStarting(): boolean {
    return this.starting !== undefined;
  }

  /** Starts the server unless it runs; whether it runs now. */
  async start(): Promise<boolean> {
    this.starting ??= this.launch().finally(() => (this.starting = undefined));
    return this.starting;
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client) await client.dispose(3000).catch((error: unknown) => this.log.warn(String(error)));
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async request<M extends keyof Requests>(
    method: M,
    params: Requests[M]["params"],
  ): Promise<Requests[M]["result"]> {
    if (!(await this.start()) || !this.client) throw new Error(message(this.current));
    return this.client.sendRequest<Requests[M]["result"]>(method, params);
  }

  /** The traffic, beginning now if it was not logged yet. */
  async showTraffic(): Promise<void> {
    const settings = vscode.workspace.getConfiguration("agentls");
    if (settings.get("trace.server") === "off")
      await settings.update("trace.server", "verbose", vscode.ConfigurationTarget.Global);
    this.traffic.show(true);
  }

  onNotification<M extends keyof Notifications>(
    method: M,
    listener: (params: Notifications[M]["params"]) => void,
  ): vscode.Disposable {
    const listeners = this.listeners.get(method) ?? new Set();
    this.listeners.set(method, listeners.add(listener));
    return new vscode.Disposable(() => listeners.delete(listener));
  }

  async allowUvx(): Promise<void> {
    await this.storage.update(UVX_ALLOWED, true);
    await this.restart();
  }

  dispose(): void {
    void this.stop();
    for (const part of [this.log, this.traffic, this.stateChanged]) part.dispose();
  }

  private async launch(): Promise<boolean> {
    if (this.client?.state === State.Running) return true;
    if (this.client?.state === State.Starting) {
      // It ended and is being started again: to wait for it, not to start a second one.
      return this.client.start().then(
        () => true,
        () => false,
      );
    }
    if (!vscode.workspace.isTrusted) {
      return this.fail(
        "Agents run programs, so they need a folder that you trust.",
        commandIds.trust,
        "Manage trust",
      );
    }
    const settings = vscode.workspace.getConfiguration("agentls");
    const found = findServer({
      setting: settings.get<readonly string[]>("server.command", []),
      environments: await environments(),
      path: process.env["PATH"] ?? "",
      platform: process.platform,
      uvx: this.storage.get(UVX_ALLOWED, false),
      isProgram,
    });
    if (!found) {
      return this.fail(
        "The agentls server is not installed.",
        commandIds.installServer,
        "Install…",
      );
    }
    this.log.info(`starting ${found.command.join(" ")} (found by ${found.how})`);
    this.become({ state: "starting" });
    return this.connect(found.command);
  }

  private async connect([command, ...args]: readonly [string, ...string[]]): Promise<boolean> {
    const options: ServerOptions = { command, args, options: { env: process.env } };
    const client = new QuietClient("agentls", "agentls", options, {
      documentSelector: [{ scheme: "file" }, { scheme: "untitled" }],
      outputChannel: this.log,
      traceOutputChannel: this.traffic,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationOptions: chosenSettings(),
      initializationFailedHandler: () => false,
      middleware: {
        executeCommand: (command, args: { readonly askId?: string }[], next): unknown =>
          Object.hasOwn(OWN_WAYS, command)
            ? vscode.commands.executeCommand(OWN_WAYS[command] ?? "", args[0]?.askId)
            : next(command, args),
      },
    });
    client.registerFeature({
      fillClientCapabilities: (capabilities) => {
        const experimental = (capabilities.experimental ?? {}) as Record<string, unknown>;
        capabilities.experimental = {
          ...experimental,
          agentls: { version: PROTOCOL_VERSION, savesDocuments: true, knowsCode: true },
        };
      },
      initialize: () => undefined,
      getState: () => ({ kind: "static" }),
      clear: () => undefined,
    });
    for (const [method, listeners] of this.listeners) {
      client.onNotification(method, (params: unknown) => {
        for (const hear of listeners) hear(params as never);
      });
    }
    client.onRequest("agentls/document/save", saveDocument);
    answerAboutCode(client);
    client.onDidChangeState(({ newState }) => {
      if (this.client !== client) return;
      if (newState === State.Running) this.become({ state: "running" });
      else if (newState === State.Stopped)
        this.fail("The agentls server has ended.", commandIds.restartServer, "Restart");
    });
    this.client = client;
    try {
      await client.start();
    } catch (error) {
      this.log.error(String(error));
      if (this.client === client) this.client = undefined;
      return this.fail(
        `The agentls server does not start: ${text(error)}`,
        commandIds.showLog,
        "Show log",
      );
    }
    return this.client === client;
  }

  private become(state: ServerState): void {
    this.current = state;
    this.stateChanged.fire(state);
  }

  private fail(message: string, command: string, label: string): false {
    this.log.warn(message);
    this.become({ state: "stopped", message, action: { command, label } });
    return false;
  }
}

/** Saves what an agent edited, as a person would: with everything that VS Code does on saving. */
async function saveDocument({ uri }: DocumentParams): Promise<DocumentSaveResult> {
  const wanted = vscode.Uri.parse(uri).toString();
  const document = vscode.workspace.textDocuments.find((it) => it.uri.toString() === wanted);
  return { saved: document !== undefined && (!document.isDirty || (await document.save())) };
}

/** Only what a person has set: for the rest the server has its own defaults. */
function chosenSettings(): Record<string, unknown> {
  const configuration = vscode.workspace.getConfiguration("agentls");
  const chosen: Record<string, unknown> = {};
  for (const name of serverSettings) {
    const found = configuration.inspect(name);
    const value = found?.workspaceFolderValue ?? found?.workspaceValue ?? found?.globalValue;
    if (value !== undefined) chosen[name] = value;
  }
  return chosen;
}

function message(state: ServerState): string {
  return state.state === "stopped" ? state.message : "The agentls server is not ready.";
}

export function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
