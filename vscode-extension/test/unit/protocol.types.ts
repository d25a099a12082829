// Compiled, never run: if this file has no type errors, the generated types can be used as meant.

import {
  type AskEntry,
  type Change,
  commands,
  defaults,
  type Defaults,
  defaultSettings,
  type Entry,
  methods,
  type Notifications,
  type Nothing,
  type PromptParams,
  type Requests,
  type SessionHead,
  type SessionState,
  type Settings,
  titles,
  type ToolCallEntry,
} from "../../src/protocol.gen";

declare function request<M extends keyof Requests>(
  method: M,
  params: Requests[M]["params"],
): Promise<Requests[M]["result"]>;

declare function onNotification<M extends keyof Notifications>(
  method: M,
  handler: (params: Notifications[M]["params"]) => void,
): void;

function never(value: never): never {
  throw new Error(`unexpected ${JSON.stringify(value)}`);
}

/** A new kind of entry makes this an error until it is dealt with. */
export function summary(entry: Entry): string {
  switch (entry.kind) {
    case "message":
    case "notice":
    case "question":
      return entry.text;
    case "attachment":
      return entry.block.kind;
    case "tool_call":
      return `${entry.title}: ${contentOf(entry).join(", ")}`;
    case "plan":
      return entry.steps.map((step) => step.text).join(", ");
    case "ask":
      return entry.title;
    case "turn_end":
      return entry.reason;
    case "other":
      return String(entry.raw["sessionUpdate"]);
    default:
      return never(entry);
  }
}

function contentOf(call: ToolCallEntry): string[] {
  return (call.content ?? []).map((content) => {
    switch (content.type) {
      case "text":
        return content.body.text;
      case "diff":
        return content.old === null ? `new ${content.path}` : content.path;
      case "terminal":
        return content.terminalId;
      case "block":
        return content.block.kind;
      default:
        return never(content);
    }
  });
}

export function entryId(change: Change): string | undefined {
  switch (change.type) {
    case "entry":
      return change.entry.id;
    case "text":
      return change.entryId;
    case "session":
      return undefined;
    default:
      return never(change);
  }
}

export async function follow(): Promise<void> {
  const changed = new Map<string | undefined, number>();
  onNotification(methods.sessionDidChange, ({ changes, seq }) => {
    for (const change of changes) changed.set(entryId(change), seq);
  });
  const nothing: Nothing = {};
  const { sessions } = await request(methods.sessionList, nothing);
  const state: SessionState | undefined = sessions[0]?.state;
  const prompt: PromptParams = { text: state ?? "Hello" };
  const { turn } = await request(methods.sessionPrompt, prompt);
  // @ts-expect-error a required field is missing
  await request(methods.askDecide, { verdict: turn.toString() });
  // @ts-expect-error a notification is no request
  await request(methods.sessionDidChange, nothing);
  // @ts-expect-error Nothing has no fields
  await request(methods.sessionList, { text: "" });
}

/** With the defaults filled in, no field is optional any more. */
export function filled(head: SessionHead): Required<SessionHead> {
  return { ...defaults.SessionHead, ...head };
}

export function isOpen(ask: AskEntry): boolean {
  return { ...defaults.AskEntry, ...ask }.decision === null;
}

// @ts-expect-error absent is absent, not undefined
export const wrong: PromptParams = { text: undefined };

export const settings: Required<Settings> = { ...defaultSettings, agent: "claude" };
export const grace: Defaults<Settings>["cancelGrace"] = defaultSettings.cancelGrace;
export const labels: readonly (readonly [string, string])[] = [
  [commands.sessionPrompt, titles.sessionPrompt],
];
