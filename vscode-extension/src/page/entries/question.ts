// A question for words: what the agent wants to know, of whom, and the answer.

import type { QuestionEntry } from "../../protocol.gen";
import { oneLine, visible } from "../../common/plainText";
import { h, icon, type Node } from "../node";
import { row } from "./parts";

export function drawQuestion(entry: QuestionEntry): Node {
  const to = (entry.to ?? "") === "" ? "" : ` to ${oneLine(entry.to ?? "", 60)}`;
  const reply = entry.reply ?? null;
  return row(
    reply === null ? "ask" : "ask-done",
    { "aria-label": `Question${to}: ${oneLine(entry.text)}` },
    h(
      "div.card.ask-card",
      {},
      h("div.card-head", {}, icon("comment-unresolved"), h("span.card-title", {}, `Question${to}`)),
      h("div.ask-why", { dir: "auto" }, visible(entry.text.slice(0, 4000))),
      reply === null ? answers(entry) : h("div.decision", { dir: "auto" }, replied(reply)),
    ),
  );
}

function answers(entry: QuestionEntry): Node {
  const data = { type: "button", "data-do": "answer", "data-question": entry.questionId };
  return h(
    "div.ask-buttons",
    {},
    (entry.options ?? []).map((option) =>
      h("button.button", { ...data, "data-text": option }, oneLine(option, 60)),
    ),
    h("button.button.secondary", data, "Answer…"),
  );
}

function replied(reply: NonNullable<QuestionEntry["reply"]>): string {
  const by = oneLine(reply.by, 120);
  return reply.text === null
    ? `Not answered (${by})`
    : `${by === "you" ? "You" : by}: ${visible(reply.text.slice(0, 4000))}`;
}
