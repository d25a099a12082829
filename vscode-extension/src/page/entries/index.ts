// How each kind of entry looks. Pure: an entry and what a person has opened in, nodes out.

import type {
  AttachmentEntry,
  Entry,
  MessageEntry,
  NoticeEntry,
  OtherEntry,
  PlanEntry,
  TurnEndEntry,
} from "../../protocol.gen";
import { oneLine, visible } from "../../common/plainText";
import { usageText } from "../../common/usage";
import type { Block } from "../markdown/blocks";
import { render } from "../markdown/render";
import { button, h, icon, type Node } from "../node";
import { drawAsk } from "./ask";
import { drawBlock } from "./block";
import { foldButton, row } from "./parts";
import { drawQuestion } from "./question";
import { drawToolCall } from "./toolCall";

export interface Drawing {
  /** Whether a person, or the default of its kind, shows what is inside. */
  isOpen(id: string): boolean;
  /** What a person is about to say in this entry: the reason of a no. */
  note(id: string): string | undefined;
  readonly cwd: () => string;
}

const LONG_PROMPT = 1200;

export function drawEntry(entry: Entry, drawing: Drawing): Node {
  switch (entry.kind) {
    case "message":
      return userMessage(entry, drawing.isOpen(entry.id));
    case "attachment":
      return attachment(entry);
    case "tool_call":
      return drawToolCall(entry, drawing.isOpen(entry.id), drawing.cwd());
    case "plan":
      return plan(entry);
    case "ask":
      return drawAsk(entry, drawing.isOpen(entry.id), drawing.note(entry.id));
    case "question":
      return drawQuestion(entry);
    case "turn_end":
      return turnEnd(entry);
    case "notice":
      return notice(entry);
    case "other":
      return other(entry, drawing.isOpen(entry.id));
  }
}

export function drawMessageBlock(block: Block, thought: boolean): Node {
  return row(
    thought ? "thought-text" : "agent",
    { "aria-label": "Agent" },
    h("div.markdown", {}, render(block)),
  );
}

export function drawThoughtHead(entry: MessageEntry, open: boolean, thinking: boolean): Node {
  const label = thinking ? "Thinking…" : "Thought";
  return row("thought", { "aria-label": label }, foldButton(entry.id, open, h("span", {}, label)));
}

function userMessage(entry: MessageEntry, open: boolean): Node {
  const long = entry.text.length > LONG_PROMPT || entry.text.split("\n").length > 15;
  const sender = oneLine(entry.sender ?? "", 60);
  const shown =
    long && !open
      ? `${entry.text.slice(0, LONG_PROMPT).split("\n").slice(0, 12).join("\n")}…`
      : entry.text;
  return row(
    "user",
    { "aria-label": sender === "" ? "You" : sender },
    h(
      "div.user-box",
      {},
      sender !== "" && h("div.muted", { dir: "auto" }, `From ${sender}`),
      h("div.user-text", { dir: "auto" }, visible(shown)),
      long && foldButton(entry.id, open, open ? "Show less" : "Show all"),
      h(
        "div.user-actions",
        {},
        button("edit", "Edit and send again", { "data-id": entry.id }, icon("edit")),
      ),
    ),
  );
}

function attachment(entry: AttachmentEntry): Node {
  const name = entry.role === "user" ? "user-attachment" : "agent-attachment";
  return row(name, { "aria-label": "Attachment" }, drawBlock(entry.block));
}

const STEP_ICONS: Readonly<Record<string, string>> = {
  completed: "pass-filled",
  in_progress: "play-circle",
  pending: "circle-large-outline",
};

function plan(entry: PlanEntry): Node {
  const done = entry.steps.filter((step) => step.status === "completed").length;
  const steps = entry.steps.map((step) =>
    h(
      `li.step.${/^\w+$/.test(step.status) ? step.status : "unknown"}`,
      {},
      icon(STEP_ICONS[step.status] ?? "circle-large-outline"),
      h("span", { dir: "auto" }, visible(step.text)),
      h("span.sr-only", {}, ` (${step.status.replaceAll("_", " ")})`),
    ),
  );
  return row(
    "plan",
    { "aria-label": "Plan" },
    h(
      "div.card",
      {},
      h(
        "div.card-head",
        {},
        icon("checklist"),
        h("span.card-title", {}, "Plan"),
        h("span.muted", {}, `${done} of ${entry.steps.length}`),
      ),
      h("ol.steps", {}, steps),
    ),
  );
}

const ENDINGS: Readonly<Record<string, string>> = {
  end_turn: "",
  cancelled: "Stopped",
  max_tokens: "Stopped: the answer became too long",
  max_turn_requests: "Stopped: too many steps in one turn",
  refusal: "The agent refuses to go on",
  failed: "Failed",
};

function turnEnd(entry: TurnEndEntry): Node {
  const facts = [
    ENDINGS[entry.reason] ?? oneLine(entry.reason, 60),
    duration(entry.seconds),
    entry.usage ? usageText(entry.usage) : "",
  ];
  const line = h("div.turn-end-line", {}, facts.filter((fact) => fact !== "").join(" · "));
  const error = entry.error ?? "";
  if (error === "") return row("turn-end", { "aria-label": "End of the turn" }, line);
  return row(
    "turn-end",
    { "aria-label": "The turn failed" },
    box("error", error, button("retry", "Send it again")),
    line,
  );
}

export function duration(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

const LEVEL_ICONS: Readonly<Record<string, string>> = { error: "error", warning: "warning" };

export function box(level: string, text: string, ...actions: readonly Node[]): Node {
  const name = level in LEVEL_ICONS ? level : "info";
  return h(
    `div.box.${name}`,
    { role: name === "error" ? "alert" : "note" },
    icon(LEVEL_ICONS[name] ?? "info"),
    h("div.box-text", { dir: "auto" }, visible(text.slice(0, 4000))),
    actions.length > 0 && h("div.box-actions", {}, actions),
  );
}

function notice(entry: NoticeEntry): Node {
  return row("notice", { "aria-label": "Notice" }, box(entry.level, entry.text));
}

function other(entry: OtherEntry, open: boolean): Node {
  const raw = JSON.stringify(entry.raw, null, 2).slice(0, 4000);
  return row(
    "other",
    { "aria-label": "Something new" },
    foldButton(
      entry.id,
      open,
      h("span", {}, `An update this version does not know: ${oneLine(entry.update, 60)}`),
    ),
    open && h("pre.raw", { tabindex: "0" }, visible(raw)),
  );
}
