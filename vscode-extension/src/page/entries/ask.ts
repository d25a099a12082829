// An ask: what would happen, why a person is asked, and the answers. Nothing is chosen beforehand.

import type { AskDecision, AskEntry, AskOption } from "../../protocol.gen";
import { oneLine, visible } from "../../common/plainText";
import { h, icon, type Element, type Node } from "../node";
import { row } from "./parts";

export function drawAsk(entry: AskEntry, open: boolean, note: string | undefined): Node {
  const decision = entry.decision ?? null;
  return decision === null ? openAsk(entry, open, note) : decided(entry, decision);
}

function openAsk(entry: AskEntry, open: boolean, note: string | undefined): Node {
  const data = { "data-ask": entry.askId, "data-id": entry.id };
  const always = entry.always ?? [];
  return row(
    "ask",
    { "aria-label": `The agent asks: ${oneLine(entry.title)}` },
    h(
      "div.card.ask-card",
      {},
      h(
        "div.card-head",
        {},
        icon("question"),
        h("span.card-title", { dir: "auto" }, oneLine(entry.title, 300)),
      ),
      (entry.shown ?? "") !== "" &&
        h("pre.ask-shown", { tabindex: "0" }, visible((entry.shown ?? "").slice(0, 4000))),
      (entry.why ?? "") !== "" &&
        h("div.ask-why", { dir: "auto" }, visible((entry.why ?? "").slice(0, 1000))),
      note === undefined ? answers(entry, data, always.length > 0, open) : reason(data, note),
      note === undefined && open && alwaysMenu(entry, data),
    ),
  );
}

function answers(
  entry: AskEntry,
  data: Readonly<Record<string, string>>,
  hasRules: boolean,
  open: boolean,
): Element {
  const options = [...entry.options].sort((a, b) => rank(a) - rank(b));
  return h(
    "div.ask-buttons",
    {},
    options.map((option) =>
      h(
        `button.button${option.kind === "allow_once" ? "" : ".secondary"}`,
        { type: "button", "data-do": "decide", "data-option": option.id, ...data },
        oneLine(option.name, 60),
      ),
    ),
    entry.editable === true &&
      h(
        "button.button.secondary",
        { type: "button", "data-do": "edit-first", ...data },
        "Edit first…",
      ),
    h(
      "button.button.secondary",
      { type: "button", "data-do": "say-why", ...data },
      "Reject and say why…",
    ),
    hasRules &&
      h(
        "button.button.secondary",
        { type: "button", "data-do": "toggle", "data-id": entry.id, "aria-expanded": String(open) },
        "Always…",
      ),
  );
}

/** Once before always, yes before no. */
function rank(option: AskOption): number {
  const order = ["allow_once", "reject_once", "allow_always", "reject_always"].indexOf(option.kind);
  return order < 0 ? 9 : order;
}

const SCOPES = [
  ["session", "in this session"],
  ["project", "in this project"],
  ["user", "everywhere"],
] as const;

function alwaysMenu(entry: AskEntry, data: Readonly<Record<string, string>>): Element {
  const offers = (entry.always ?? []).map((offer) =>
    h(
      "div.always",
      {},
      h("span.always-label", { dir: "auto" }, oneLine(offer.label, 200)),
      SCOPES.map(([scope, label]) =>
        h(
          "button.text-button",
          {
            type: "button",
            "data-do": "always",
            "data-always": offer.id,
            "data-scope": scope,
            ...data,
          },
          label,
        ),
      ),
    ),
  );
  return h("div.always-menu", { role: "group", "aria-label": "Rules to remember" }, offers);
}

function reason(data: Readonly<Record<string, string>>, note: string): Element {
  return h(
    "div.ask-reason",
    {},
    h("input.reason", {
      type: "text",
      placeholder: "What should the agent do instead?",
      "aria-label": "Reason",
      "data-note": "reason",
      value: note,
      ...data,
    }),
    h("button.button", { type: "button", "data-do": "reject-why", ...data }, "Reject"),
    h("button.button.secondary", { type: "button", "data-do": "forget-why", ...data }, "Back"),
  );
}

function decided(entry: AskEntry, decision: AskDecision): Node {
  const chosen = entry.options.find((option) => option.id === decision.optionId)?.name;
  const word = decision.allowed ? "Allowed" : decision.optionId === null ? "Withdrawn" : "Rejected";
  const by = decision.by === "you" ? "by you" : `by ${oneLine(decision.by, 120)}`;
  const remembered =
    (decision.remembered ?? "") === ""
      ? ""
      : ` · remembered: ${oneLine(decision.remembered ?? "", 160)}`;
  return row(
    "ask-done",
    { "aria-label": `${word}: ${oneLine(entry.title)}` },
    h(
      "div.decision",
      { title: oneLine(`${chosen ?? ""} ${entry.why ?? ""}`, 300) },
      icon(decision.allowed ? "pass" : "circle-slash", decision.allowed ? "yes" : "no"),
      h(
        "span",
        { dir: "auto" },
        `${word} ${by}: ${oneLine(entry.shown || entry.title, 160)}${remembered}`,
      ),
    ),
  );
}
