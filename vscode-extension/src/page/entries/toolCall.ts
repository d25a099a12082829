// A tool call as a card: what it is, how it is going, what it touched and what came out.

import type {
  Body,
  CommandOutput,
  DiffContent,
  FileLocation,
  ToolCallEntry,
} from "../../protocol.gen";
import { fileHref } from "../../common/links";
import { oneLine, visible } from "../../common/plainText";
import { output } from "../ansi";
import { diff, type Diff, type Line } from "../diff";
import { highlight, languageOf } from "../highlight";
import { Blocks } from "../markdown/blocks";
import { linkAttributes, render } from "../markdown/render";
import { button, h, icon, type Element, type Node } from "../node";
import { drawBlock } from "./block";
import { foldButton, row } from "./parts";

const ICONS: Readonly<Record<string, string>> = {
  read: "book", edit: "edit", delete: "trash", move: "move", search: "search", execute: "terminal",
  think: "lightbulb", fetch: "globe", switch_mode: "arrow-swap",
}; // prettier-ignore

const STATES: Readonly<Record<string, readonly [icon: string, label: string]>> = {
  pending: ["circle-large-outline", "waiting"],
  in_progress: ["loading", "running"],
  completed: ["check", "done"],
  failed: ["error", "failed"],
  rejected: ["circle-slash", "rejected"],
  cancelled: ["circle-slash", "stopped"],
  unfinished: ["question", "not finished"],
};

const MOST_LINES = 40;
const MOST_BLOCKS = 6;
const MOST_CHARACTERS = 12_000;

export function opensByItself(entry: ToolCallEntry): boolean {
  const hasDiff = (entry.content ?? []).some((part) => part.type === "diff");
  return hasDiff || entry.status === "in_progress" || entry.status === "failed";
}

export function drawToolCall(entry: ToolCallEntry, open: boolean, cwd: string): Node {
  const inside = open ? contents(entry) : [];
  return row(
    "tool",
    { "aria-label": `Tool call: ${oneLine(entry.title)}` },
    h(
      `div.card.state-${/^\w+$/.test(entry.status) ? entry.status : "unknown"}`,
      {},
      head(entry, open, cwd),
      ...inside,
    ),
  );
}

function head(entry: ToolCallEntry, open: boolean, cwd: string): Element {
  const kind = h("span.tool-kind", { title: entry.tool }, icon(ICONS[entry.tool] ?? "tools"));
  const title = h("span.card-title", { dir: "auto" }, titleOf(entry, cwd));
  const label = hasContent(entry)
    ? foldButton(entry.id, open, kind, title)
    : h("span.fold.still", {}, kind, title);
  return h(
    "div.card-head",
    {},
    label,
    ...(entry.locations ?? []).slice(0, 3).map((place) => locationLink(place, cwd)),
    stats(entry),
    state(entry),
  );
}

/** Agents like to put whole paths into titles; what is inside the folder is shorter to read. */
function titleOf(entry: ToolCallEntry, cwd: string): string {
  const short = cwd === "" ? entry.title : entry.title.replaceAll(`${cwd}/`, "");
  return oneLine(short === "" ? entry.tool : short, 200);
}

function hasContent(entry: ToolCallEntry): boolean {
  return (entry.content ?? []).length > 0 || (entry.terminals ?? []).length > 0;
}

function locationLink(place: FileLocation, cwd: string): Element {
  const inside =
    cwd !== "" && place.path.startsWith(`${cwd}/`) ? place.path.slice(cwd.length + 1) : place.path;
  const line = place.line == null ? "" : `:${place.line}`;
  const name = inside.length > 40 ? `…/${inside.split("/").slice(-2).join("/")}` : inside;
  return h(
    "span.location",
    linkAttributes(fileHref(place.path, place.line)),
    oneLine(`${name}${line}`, 80),
  );
}

function stats(entry: ToolCallEntry): Element | undefined {
  const diffs = (entry.content ?? [])
    .filter((part) => part.type === "diff")
    .map((part) => compared(part));
  if (diffs.length === 0) return undefined;
  const sum = (of: (one: Diff) => number) => diffs.reduce((total, one) => total + of(one), 0);
  return h(
    "span.stats",
    {},
    h("span.added", {}, `+${sum((one) => one.added)}`),
    h("span.removed", {}, `−${sum((one) => one.removed)}`),
  );
}

function state(entry: ToolCallEntry): Element {
  const [name, label] = STATES[entry.status] ?? ["question", oneLine(entry.status, 30)];
  const spin = name === "loading" ? ["codicon-modifier-spin"] : [];
  return h("span.state", { title: label }, icon(name, ...spin), h("span.sr-only", {}, label));
}

function contents(entry: ToolCallEntry): readonly Node[] {
  const terminals = entry.terminals ?? [];
  const shown = new Set<string>();
  const parts = (entry.content ?? []).map((part, index): Node => {
    switch (part.type) {
      case "text":
        return text(part.body, entry.id, index);
      case "diff":
        return diffCard(part, entry.id, index);
      case "block":
        return h("div.tool-block", {}, drawBlock(part.block));
      case "terminal": {
        shown.add(part.terminalId);
        const found = terminals.find((one) => one.terminalId === part.terminalId);
        return found ? terminal(found, entry.id) : terminalHead(part.terminalId, entry.id);
      }
    }
  });
  const rest = terminals
    .filter((one) => !shown.has(one.terminalId))
    .map((one) => terminal(one, entry.id));
  return [...parts, ...rest];
}

function text(body: Body, id: string, part: number): Node {
  const long = body.text.length > MOST_CHARACTERS;
  const blocks = new Blocks(body.text.slice(0, MOST_CHARACTERS));
  const most = Math.min(blocks.length, MOST_BLOCKS);
  const nodes = Array.from({ length: most }, (_, i) => blocks.at(i)).flatMap((block) =>
    block ? render(block) : [],
  );
  const cut = body.cut === true || long || blocks.length > most;
  return h("div.tool-text.markdown", { tabindex: "0" }, nodes, cut && showAll(id, part, body.size));
}

function showAll(id: string, part: number | string, size: number): Element {
  return button("show-body", `Show all (${size.toLocaleString("en")} characters)`, {
    "data-id": id,
    "data-part": String(part),
  });
}

function terminal(found: CommandOutput, id: string): Node {
  const lines = found.output.text.slice(-MOST_CHARACTERS).split("\n");
  const last = lines.slice(-MOST_LINES).join("\n");
  const cut =
    found.output.cut === true ||
    lines.length > MOST_LINES ||
    found.output.text.length > MOST_CHARACTERS;
  return h(
    "div.terminal",
    {},
    terminalHead(found.terminalId, id),
    cut && showAll(id, found.terminalId, found.output.size),
    h("pre", { tabindex: "0", "aria-label": "Output" }, output(last.replace(/\n+$/, ""))),
    found.ended === true && ending(found),
  );
}

function terminalHead(terminal: string, id: string): Element {
  return h(
    "div.terminal-head",
    {},
    button(
      "terminal",
      "Open terminal",
      { "data-terminal": terminal, "data-id": id },
      icon("terminal"),
    ),
  );
}

function ending(found: CommandOutput): Node {
  if (found.exitCode === 0) return "";
  const how =
    found.exitCode == null
      ? `ended by ${oneLine(found.signal || "a signal", 30)}`
      : `exit code ${found.exitCode}`;
  return h("div.exit", {}, icon("error"), how);
}

// -- diffs

const compares = new WeakMap<DiffContent, Diff>();

function compared(part: DiffContent): Diff {
  let found = compares.get(part);
  if (!found) compares.set(part, (found = diff(part.old?.text ?? "", part.new.text)));
  return found;
}

function diffCard(part: DiffContent, id: string, index: number): Node {
  const found = compared(part);
  const data = { "data-id": id, "data-part": String(index), "data-path": part.path };
  const lines = found.hunks.flatMap((hunk) => [
    ...(hunk.skipped > 0 ? [gap(hunk.skipped)] : []),
    ...hunk.lines,
  ]);
  const more = lines.length - MOST_LINES;
  const language = languageOf(part.path);
  return h(
    "div.diff",
    {},
    h(
      "div.diff-head",
      {},
      h(
        "span.location",
        linkAttributes(fileHref(part.path)),
        oneLine(part.path.split("/").at(-1) ?? part.path, 80),
      ),
      part.old === null && h("span.muted", {}, "new file"),
      button("show-diff", "Open diff", data, icon("diff")),
    ),
    h(
      "div.diff-lines",
      { tabindex: "0" },
      lines.slice(0, MOST_LINES).map((line) => ("tag" in line ? line : diffLine(line, language))),
    ),
    more > 0 && button("show-diff", `${more} more lines…`, data),
  );
}

function gap(lines: number): Element {
  return h("div.diff-gap", {}, `${lines} lines`);
}

const SIGNS = { same: " ", added: "+", removed: "−" } as const;

function diffLine(line: Line, language: string): Element {
  const text = visible(line.text.slice(0, 400));
  return h(
    `div.diff-line.${line.type}`,
    {},
    h("span.diff-number", { "aria-hidden": "true" }, String(line.number)),
    h("span.diff-sign", {}, SIGNS[line.type]),
    h("span.diff-text", {}, highlight(text === "" ? " " : text, language)),
  );
}
