// Choices as VS Code shows them: agents, sessions, modes, options, policies, rules.

import * as vscode from "vscode";
import { methods, type PolicyMode, type RuleItem, type SessionHead } from "../protocol.gen";
import { title } from "../common/messages";
import { oneLine } from "../common/plainText";
import type { Server } from "./server";
import { stateWords } from "./sessionTree";
import type { Sessions } from "./sessions";

interface Item<T> extends vscode.QuickPickItem {
  readonly value: T;
}

const POLICIES: readonly (Item<PolicyMode> & { readonly value: PolicyMode })[] = [
  { value: "ask", label: "$(shield) Ask first", detail: "What no rule allows is asked." },
  {
    value: "accept_edits",
    label: "$(edit) Allow edits",
    detail: "Edits in the folder of the session are not asked; commands are.",
  },
  { value: "read_only", label: "$(lock) Read only", detail: "Edits and commands are rejected." },
  {
    value: "trust",
    label: "$(warning) Trust",
    detail: "Nothing is asked in this session. Only in a sandbox.",
  },
];

export class Pickers {
  constructor(
    private readonly server: Server,
    private readonly sessions: Sessions,
  ) {}

  async agent(current: string): Promise<string | undefined> {
    const { agents } = await this.server.request(methods.agents, {});
    const items = [...agents]
      .sort((a, b) => Number(b.installed) - Number(a.installed))
      .map((agent) => ({
        value: agent,
        label: agent.title,
        description: agent.name === current ? "current" : "",
        detail: agent.installed
          ? (agent.version ?? "")
          : `Not installed. ${oneLine(agent.install ?? "", 160)}`,
      }));
    const agent = await pick("Agent for the new session", items);
    if (agent && !agent.installed) {
      const copy = "Copy command";
      const how = oneLine(agent.install ?? "", 300);
      const chosen = await vscode.window.showInformationMessage(
        `${agent.title} is not installed.`,
        { modal: true, detail: how },
        copy,
      );
      if (chosen === copy) await vscode.env.clipboard.writeText(agent.install ?? "");
      return undefined;
    }
    return agent?.name;
  }

  async session(): Promise<SessionHead | undefined> {
    const items = this.sessions.all.map((head) => ({
      value: head,
      label: oneLine(title(head), 80),
      description: head.agent,
      detail: stateWords(head),
    }));
    return pick("Session", items);
  }

  async mode(sessionId: string): Promise<void> {
    const head = this.sessions.head(sessionId);
    const modes = head?.modes ?? [];
    if (modes.length === 0) throw new Error("The agent of this session offers no modes.");
    const items = modes.map(({ id, name, description }) => ({
      value: id,
      label: mark(id === head?.mode, name),
      detail: oneLine(description ?? "", 200),
    }));
    const mode = await pick("Mode", items);
    if (mode !== undefined)
      this.sessions.put(
        (await this.server.request(methods.sessionSetMode, { sessionId, mode })).session,
      );
  }

  async policy(sessionId: string): Promise<void> {
    const current = this.sessions.head(sessionId)?.policy ?? "ask";
    const items = POLICIES.map((item) => ({
      ...item,
      description: item.value === current ? "current" : "",
    }));
    const policy = await pick("What the agent may do without asking", items);
    if (policy !== undefined)
      this.sessions.put(
        (await this.server.request(methods.sessionSetPolicy, { sessionId, policy })).session,
      );
  }

  /** One of the agent's own options; without an id a person chooses which. */
  async option(sessionId: string, id = ""): Promise<void> {
    const options = this.sessions.head(sessionId)?.options ?? [];
    if (options.length === 0) throw new Error("The agent of this session offers no options.");
    const option =
      options.find((one) => one.id === id) ??
      (await pick(
        "Option",
        options.map((one) => ({ value: one, label: one.name, description: String(one.value) })),
      ));
    if (!option) return;
    const choices = (option.choices ?? []).map((one) => ({
      value: one.value,
      label: mark(one.value === option.value, one.name),
      description: one.group ?? "",
      detail: oneLine(one.description ?? "", 200),
    }));
    const value =
      typeof option.value === "boolean" ? !option.value : await pick(option.name, choices);
    if (value === undefined) return;
    this.sessions.put(
      (await this.server.request(methods.sessionSetOption, { sessionId, option: option.id, value }))
        .session,
    );
  }

  /** The rules that hold here; choosing one shows where it stands, or removes it. */
  async rules(): Promise<void> {
    const { rules, problems } = await this.server.request(methods.ruleList, {});
    for (const problem of problems ?? [])
      void vscode.window.showWarningMessage(oneLine(problem, 300));
    const items = rules.map((rule) => ({
      value: rule,
      label: `$(${ruleIcon(rule)}) ${rule.verdict} ${oneLine(rule.what, 100)}`,
      description: rule.scope,
      detail: `${rule.source}:${rule.line}`,
    }));
    if (items.length === 0) {
      void vscode.window.showInformationMessage(
        "There are no rules yet. “Always allow…” in an ask makes one.",
      );
      return;
    }
    const rule = await pick("Rules", items);
    if (!rule) return;
    const action = await pick(`${rule.verdict} ${oneLine(rule.what, 100)}`, [
      { value: "show", label: "$(go-to-file) Show where it stands" },
      { value: "remove", label: "$(trash) Remove" },
    ]);
    if (action === "remove") await this.remove(rule);
    if (action === "show")
      await vscode.window.showTextDocument(vscode.Uri.file(rule.source), {
        selection: new vscode.Range(rule.line - 1, 0, rule.line - 1, 0),
      });
  }

  private async remove(rule: RuleItem): Promise<void> {
    const {
      verdict,
      kind = null,
      command = null,
      path = null,
      host = null,
      tool = null,
      agent = null,
    } = rule;
    const scope = rule.scope === "user" || rule.scope === "session" ? rule.scope : "project";
    await this.server.request(methods.ruleRemove, {
      verdict,
      scope,
      kind,
      command,
      path,
      host,
      tool,
      agent,
    });
  }
}

function ruleIcon(rule: RuleItem): string {
  return rule.verdict === "allow" ? "check" : rule.verdict === "deny" ? "circle-slash" : "question";
}

function mark(current: boolean, name: string): string {
  return current ? `$(check) ${oneLine(name, 80)}` : oneLine(name, 80);
}

async function pick<T>(placeHolder: string, items: readonly Item<T>[]): Promise<T | undefined> {
  return (
    await vscode.window.showQuickPick(items, {
      placeHolder,
      matchOnDetail: true,
      matchOnDescription: true,
    })
  )?.value;
}
