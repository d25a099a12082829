// Asks: answered from anywhere, first answer wins. Here they are notifications and quick picks.
//
// Invariant: only a clear choice answers. Hiding a notification, pressing Escape or losing the focus
// answers nothing, and a notification goes when its ask was answered elsewhere.

import * as vscode from "vscode";
import { methods, type AskDecideParams, type AskItem, type RuleScope } from "../protocol.gen";
import { forNotification, oneLine } from "../common/plainText";
import { commandIds } from "./manifest.gen";
import type { Proposals } from "./review/proposals";
import { text, type Server } from "./server";
import type { Sessions } from "./sessions";

const SCOPES: readonly { readonly label: string; readonly value: RuleScope }[] = [
  { label: "In this project", value: "project" },
  { label: "In this session", value: "session" },
  { label: "Everywhere", value: "user" },
];

interface Answer extends vscode.QuickPickItem {
  readonly params?: Omit<AskDecideParams, "askId">;
  readonly command?: string;
}

export class Asks implements vscode.Disposable {
  /** Open notifications, each with what closes it. */
  private readonly shown = new Map<string, () => void>();
  private readonly part: vscode.Disposable;

  constructor(
    private readonly server: Server,
    private readonly sessions: Sessions,
    private readonly proposals: Proposals,
    private readonly isVisible: (sessionId: string) => boolean,
  ) {
    this.part = sessions.onChange(() => this.follow());
  }

  async decide(params: AskDecideParams): Promise<void> {
    await this.proposals.save(params.askId);
    const { settled, message } = await this.server.request(methods.askDecide, params);
    if (!settled)
      void vscode.window.setStatusBarMessage(
        `$(info) ${oneLine(message ?? "Somebody else was faster.", 120)}`,
        5000,
      );
  }

  find(askId: string | undefined): AskItem | undefined {
    return askId === undefined
      ? undefined
      : this.sessions.openAsks.find((ask) => ask.askId === askId);
  }

  /** All answers to an ask in a list; without an ask the oldest one. */
  async answer(askId?: string): Promise<void> {
    const ask = this.find(askId) ?? (await this.choose());
    if (!ask) return;
    const answers: Answer[] = [
      ...ask.options.map((option) => ({
        label: oneLine(option.name, 80),
        params: { optionId: option.id },
      })),
      ...((ask.always ?? []).length > 0
        ? [{ label: "Always allow…", command: commandIds.alwaysAllow }]
        : []),
      { label: "Reject and say why…", command: commandIds.rejectAndSayWhy },
      { label: "Show what it asks", command: commandIds.showAsk },
    ];
    const chosen = await vscode.window.showQuickPick(answers, {
      title: oneLine(`${ask.agent}: ${ask.title}`, 200),
      placeHolder: oneLine(ask.shown ?? ask.why ?? "", 200),
    });
    if (chosen?.params) await this.decide({ askId: ask.askId, ...chosen.params });
    else if (chosen?.command !== undefined)
      await vscode.commands.executeCommand(chosen.command, ask.askId);
  }

  async rejectAndSayWhy(ask: AskItem): Promise<void> {
    const reason = await vscode.window.showInputBox({
      title: oneLine(`Reject: ${ask.title}`, 200),
      prompt: "What should the agent do instead?",
      ignoreFocusOut: true,
    });
    if (reason !== undefined) await this.decide({ askId: ask.askId, verdict: "reject", reason });
  }

  async always(ask: AskItem): Promise<void> {
    const offers = (ask.always ?? []).map((offer) => ({
      label: oneLine(offer.label, 200),
      value: offer.id,
    }));
    const offer = await vscode.window.showQuickPick(offers, {
      placeHolder: "Which rule should be remembered?",
    });
    if (!offer) return;
    const scope = await vscode.window.showQuickPick(SCOPES, { placeHolder: offer.label });
    if (scope) await this.decide({ askId: ask.askId, always: offer.value, scope: scope.value });
  }

  async all(verdict: "allow" | "reject"): Promise<void> {
    const asks = this.sessions.openAsks;
    if (asks.length === 0) return;
    if (verdict === "allow") {
      const detail = asks
        .slice(0, 15)
        .map((ask) => oneLine(`${ask.agent}: ${ask.shown || ask.title}`, 100))
        .join("\n");
      const yes = `Allow ${asks.length}`;
      const chosen = await vscode.window.showWarningMessage(
        "Allow all of this, once?",
        { modal: true, detail },
        yes,
      );
      if (chosen !== yes) return;
      // Only what was shown: an ask that came meanwhile stays open.
      await Promise.all(asks.map((ask) => this.decide({ askId: ask.askId, verdict })));
      return;
    }
    await this.server.request(methods.askDecideAll, { verdict });
  }

  dispose(): void {
    this.part.dispose();
    for (const close of this.shown.values()) close();
  }

  private async choose(): Promise<AskItem | undefined> {
    const asks = this.sessions.openAsks;
    if (asks.length <= 1) {
      if (asks.length === 0)
        void vscode.window.setStatusBarMessage("$(check) No agent waits for an answer.", 4000);
      return asks[0];
    }
    const items = asks.map((ask) => ({
      label: oneLine(ask.title, 100),
      description: ask.agent,
      detail: oneLine(ask.shown ?? "", 200),
      ask,
    }));
    return (await vscode.window.showQuickPick(items, { placeHolder: "Which ask?" }))?.ask;
  }

  /** Shows what has to be shown; also called when a chat is shown or hidden. */
  follow(): void {
    const open = new Map(this.sessions.openAsks.map((ask) => [ask.askId, ask]));
    for (const [id, close] of this.shown) {
      const ask = open.get(id);
      if (!ask || this.isVisible(ask.sessionId)) close();
    }
    if (!vscode.workspace.getConfiguration("agentls").get<boolean>("notifyAsks", true)) return;
    for (const ask of open.values()) {
      if (!this.shown.has(ask.askId) && !this.isVisible(ask.sessionId)) this.notify(ask);
    }
  }

  /**
   * A notification that can be taken back. VS Code's messages with buttons cannot, those with progress
   * can; their answers are links.
   */
  private notify(ask: AskItem): void {
    const options = {
      location: vscode.ProgressLocation.Notification,
      title: `${forNotification(ask.agent, 30)} asks`,
    };
    void vscode.window.withProgress(options, async (progress) => {
      const closed = new Promise<void>((resolve) =>
        this.shown.set(ask.askId, () => {
          this.shown.delete(ask.askId);
          resolve();
        }),
      );
      progress.report({ message: `${forNotification(ask.shown || ask.title)} — ${links(ask)}` });
      await closed;
    });
  }
}

function links(ask: AskItem): string {
  const link = (label: string, command: string) =>
    `[${label}](command:${command}?${encodeURIComponent(JSON.stringify([ask.askId]))})`;
  return [
    link("Allow", commandIds.allow),
    link("Reject", commandIds.reject),
    link("More…", commandIds.answerAsk),
  ].join(" · ");
}

/** Runs what a person asked for; what goes wrong is told once. */
export async function told(work: () => unknown): Promise<void> {
  try {
    await work();
  } catch (error) {
    void vscode.window.showErrorMessage(forNotification(text(error), 400));
  }
}
