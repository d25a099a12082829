// What a click on an element with `data-do` means.

import type { App } from "./app";
import type { RuleScope } from "../protocol.gen";

type Action = (app: App, data: DOMStringMap, element: HTMLElement) => void;

const SCOPES: readonly string[] = ["session", "project", "user"] satisfies RuleScope[];

const ACTIONS: Readonly<Record<string, Action>> = {
  send: (app) => app.submit(),
  stop: (app) => app.send({ type: "cancel" }),
  toggle: (app, data) => app.toggle(data["id"] ?? ""),
  edit: (app, data) => app.edit(data["id"] ?? ""),
  retry: (app) => app.retry(),
  restart: (app) => app.send({ type: "restart" }),
  dismiss: (app) => app.dismiss(),
  detach: (app, data) => app.detach(Number(data["index"])),
  "to-end": (app) => app.toEnd(),
  "show-ask": (app, data) => app.reveal(data["id"] ?? ""),
  link: (app, data) => app.send({ type: "link", href: data["href"] ?? "" }),
  "attach-files": (app) => app.send({ type: "attachFiles" }),
  run: (app, data) => app.send({ type: "run", command: data["command"] ?? "" }),
  pick: (app, data) => pick(app, data),
  decide: (app, data) =>
    app.send({
      type: "decide",
      params: { askId: data["ask"] ?? "", optionId: data["option"] ?? "" },
    }),
  answer: (app, data) =>
    app.send({
      type: "answer",
      questionId: data["question"] ?? "",
      text: data["text"] ?? "",
    }),
  always: (app, data) => always(app, data),
  "say-why": (app, data) => app.setNote(data["id"] ?? "", ""),
  "forget-why": (app, data) => app.setNote(data["id"] ?? "", undefined),
  "reject-why": (app, data) => app.rejectWhy(data["ask"] ?? "", data["id"] ?? ""),
  "show-body": (app, data) =>
    app.send({ type: "showBody", entryId: data["id"] ?? "", part: part(data["part"]) }),
  "show-diff": (app, data) =>
    app.send({
      type: "showDiff",
      entryId: data["id"] ?? "",
      part: Number(data["part"]),
      path: data["path"] ?? "",
    }),
  terminal: (app, data) =>
    app.send({
      type: "terminal",
      terminalId: data["terminal"] ?? "",
      entryId: data["id"] ?? "",
    }),
  changes: (app, data) => changes(app, data["what"]),
  "edit-first": (app, data) => app.send({ type: "editProposal", askId: data["ask"] ?? "" }),
  login: (app, data) => app.send({ type: "login", method: data["method"] ?? "" }),
  continue: (app) =>
    app.send({ type: "prompt", text: "Please continue.", blocks: [], instead: false }),
  "copy-code": (_, __, element) => void navigator.clipboard.writeText(codeOf(element)),
  "insert-code": (app, _, element) => app.send({ type: "insert", text: codeOf(element) }),
};

export function actionsOf(app: App, element: HTMLElement): void {
  const name = element.dataset["do"] ?? "";
  if (Object.hasOwn(ACTIONS, name)) ACTIONS[name]?.(app, element.dataset, element);
}

function pick(app: App, data: DOMStringMap): void {
  const what = data["what"];
  if (what === "option") app.send({ type: "pickOption", option: data["option"] ?? "" });
  else if (what === "agent" || what === "mode" || what === "policy")
    app.send({ type: "pick", what });
}

function changes(app: App, what: string | undefined): void {
  if (what === "review" || what === "keep" || what === "undo") app.send({ type: "changes", what });
}

function always(app: App, data: DOMStringMap): void {
  const scope = data["scope"] ?? "";
  if (!SCOPES.includes(scope)) return;
  app.send({
    type: "decide",
    params: { askId: data["ask"] ?? "", always: data["always"] ?? "", scope: scope as RuleScope },
  });
}

/** A number is a place in the content, anything else the id of a terminal. */
function part(text: string | undefined): number | string {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : (text ?? "");
}

function codeOf(element: HTMLElement): string {
  return element.closest(".code")?.querySelector("code")?.textContent ?? "";
}
