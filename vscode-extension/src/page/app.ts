// The page: follows one session, draws it, and tells the host what a person does.

import type { Entry, SnapshotResult } from "../protocol.gen";
import type { AgentChoice, FromPage, PageState, ServerState, ToPage } from "../common/messages";
import { Transcript } from "../common/transcript";
import { actionsOf } from "./actions";
import { Composer } from "./composer";
import type { Drawing } from "./entries";
import { box } from "./entries";
import { opensByItself } from "./entries/toolCall";
import { List } from "./list";
import { button, fill, h, icon, type Node } from "./node";
import { changesBar, stateBox } from "./state";
import { TranscriptRows } from "./rows";

export interface Host {
  send(message: FromPage): void;
  load(): PageState | undefined;
  save(state: PageState): void;
}

const MOST_REMEMBERED = 500;

export class App {
  private transcript: Transcript | undefined;
  private rows: TranscriptRows | undefined;
  private list: List | undefined;
  private parts: (readonly Entry[])[] = [];
  private agents: readonly AgentChoice[] = [];
  private agent = "";
  private readonly opened = new Map<string, boolean>();
  private readonly notes = new Map<string, string>();
  private wantsOlder = false;
  private readonly composer: Composer;
  private saving = 0;
  private sessionId = "";
  /** The entry to go to once it is here. */
  private wanted = "";

  private readonly drawing: Drawing = {
    isOpen: (id) => this.isOpen(id),
    note: (id) => this.notes.get(id),
    cwd: () => this.transcript?.head.cwd ?? "",
  };

  constructor(
    private readonly host: Host,
    private readonly place: (name: string) => HTMLElement,
  ) {
    this.composer = new Composer(place("composer"), {
      send: (message) => host.send(message),
      changed: () => this.save(),
      problem: (text) => this.problem(text),
      lastPrompt: () => this.prompts().at(-1),
    });
    this.restore();
    document.body.addEventListener("click", (event) => this.clicked(event));
    document.body.addEventListener("keydown", (event) => this.key(event));
    document.body.addEventListener("input", (event) => this.noted(event));
    host.send({ type: "ready", sessionId: this.sessionId, draft: this.composer.draft });
  }

  receive(message: ToPage): void {
    switch (message.type) {
      case "server":
        return this.showServer(message.server);
      case "agents":
        this.agents = message.agents;
        this.agent = message.chosen;
        return this.showHead();
      case "empty":
        return this.showEmpty();
      case "part":
        this.parts.push(message.entries);
        return;
      case "snapshot":
        return this.showSnapshot(message.snapshot);
      case "batch":
        return this.apply(message);
      case "mentions":
        return this.composer.mentions(message.query, message.items);
      case "attach":
        return this.composer.attach(message.attachment);
      case "draft":
        this.composer.draft = [message.text, this.composer.draft]
          .filter((text) => text !== "")
          .join("\n");
        return this.composer.focus();
      case "sent":
        if (message.ok) this.list?.toEnd();
        return this.composer.sent(message.ok);
      case "problem":
        return this.problem(message.text);
      case "reveal":
        this.wanted = message.entryId;
        return this.revealWanted();
      case "changes":
        return fill(this.place("changes"), changesBar(message.files, message.lines));
      case "focus":
        return this.composer.focus();
    }
  }

  // -- the session

  private showSnapshot(snapshot: SnapshotResult): void {
    const entries = [...this.parts.flat(), ...snapshot.entries];
    this.parts = [];
    const other = snapshot.session.id !== this.sessionId;
    const before = other ? undefined : this.rows;
    const known = other ? 0 : (this.transcript?.entries.length ?? 0);
    this.transcript = new Transcript({ ...snapshot, entries });
    this.rows = new TranscriptRows(this.transcript, this.drawing, before);
    this.sessionId = snapshot.session.id;
    this.wantsOlder = false;
    if (before && this.list && known > 0) {
      this.list.replace(this.rows, this.rows.length - before.length);
    } else {
      this.list?.dispose();
      const place = this.place("list");
      this.list = new List(place, this.rows, (end, start) => this.scrolled(end, start));
    }
    fill(this.place("welcome"), []);
    this.showHead();
    this.revealWanted();
    this.save();
  }

  private revealWanted(): void {
    if (this.transcript?.find(this.wanted) === undefined) return;
    const id = this.wanted;
    this.wanted = "";
    this.reveal(id);
    const colour = getComputedStyle(document.body).getPropertyValue(
      "--vscode-editor-findMatchHighlightBackground",
    );
    this.list?.element(id)?.animate({ backgroundColor: [colour, "transparent"] }, 3000);
  }

  private apply(message: Extract<ToPage, { type: "batch" }>): void {
    const { transcript, rows, list } = this;
    if (!transcript || !rows || !list || message.batch.sessionId !== transcript.head.id) return;
    const effects = transcript.apply(message.batch);
    if (effects === "gap") return this.host.send({ type: "resync" });
    for (const effect of effects) {
      const splice = rows.follow(effect);
      if (splice && splice.insert + splice.remove > 0)
        list.splice(splice.at, splice.remove, splice.insert);
      if (effect.type === "head") this.showHead();
      else this.announce(effect.type, transcript.entries[effect.index]);
    }
    list.schedule();
  }

  private showEmpty(): void {
    this.transcript = undefined;
    this.rows = undefined;
    this.list?.dispose();
    this.list = undefined;
    this.sessionId = "";
    this.place("list").replaceChildren();
    fill(this.place("welcome"), [welcome()]);
    this.showHead();
    this.save();
  }

  private showServer(server: ServerState): void {
    const bar: Node[] = [];
    if (server.state === "starting")
      bar.push(
        h(
          "div.progress",
          { role: "status" },
          icon("loading", "codicon-modifier-spin"),
          "Starting agentls…",
        ),
      );
    if (server.state === "stopped") {
      const action = server.action
        ? [button("run", server.action.label, { "data-command": server.action.command })]
        : [];
      bar.push(box("warning", server.message, ...action));
    }
    fill(this.place("bar"), bar);
  }

  private showHead(): void {
    const head = this.transcript?.head;
    const agent =
      this.agents.find((one) => one.name === (head?.agent ?? this.agent))?.title ?? this.agent;
    this.composer.show(head, agent);
    fill(this.place("state"), head ? stateBox(head, agent) : []);
    this.place("list").setAttribute("aria-busy", String(head?.turnRunning === true));
    document.body.classList.toggle("running", head?.turnRunning === true);
    this.showAskBar();
  }

  /** Points at an open ask that is out of sight. */
  private showAskBar(): void {
    const asks = this.openAsks();
    const first = asks[0];
    const row = first ? this.rows?.rowOf(first.id) : undefined;
    const hidden = first && row !== undefined && this.list && !this.list.isSeen(row);
    const nodes = hidden
      ? [
          h(
            "div.ask-bar",
            {},
            icon("question"),
            h(
              "span",
              {},
              asks.length === 1
                ? "The agent waits for your answer"
                : `${asks.length} asks wait for your answer`,
            ),
            button("show-ask", "Show", { "data-id": first.id }),
          ),
        ]
      : [];
    fill(this.place("ask-bar"), nodes);
  }

  private openAsks(): readonly Entry[] {
    if ((this.transcript?.head.openAsks ?? 0) === 0) return [];
    return (this.transcript?.entries ?? [])
      .slice(-400)
      .filter((entry) => entry.kind === "ask" && !entry.decision);
  }

  private scrolled(atEnd: boolean, nearStart: boolean): void {
    this.place("to-end").hidden = atEnd;
    this.showAskBar();
    if (nearStart && !this.wantsOlder && (this.transcript?.older ?? 0) > 0) {
      this.wantsOlder = true;
      this.host.send({ type: "older" });
    }
  }

  /** For screen readers: what a person waits for, not every word. */
  private announce(effect: string, entry: Entry | undefined): void {
    if (effect !== "added" || !entry) return;
    const said = this.place("said");
    if (entry.kind === "ask" && !entry.decision)
      said.textContent = `The agent asks: ${entry.title}`;
    else if (entry.kind === "question" && !entry.reply)
      said.textContent = `The agent asks: ${entry.text}`;
    else if (entry.kind === "turn_end")
      said.textContent = entry.error
        ? `The turn failed: ${entry.error}`
        : "The agent has finished.";
    else if (entry.kind === "notice") said.textContent = entry.text;
  }

  // -- what a person does

  private clicked(event: Event): void {
    const found = (event.target as HTMLElement).closest<HTMLElement>("[data-do]");
    if (!found) return;
    event.preventDefault();
    actionsOf(this, found);
  }

  private key(event: KeyboardEvent): void {
    const element = event.target as HTMLElement;
    const isLink = element.getAttribute("role") === "link";
    if (isLink && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      actionsOf(this, element);
    } else if (event.key === "Enter" && element.dataset["note"] === "reason") {
      event.preventDefault();
      this.rejectWhy(element.dataset["ask"] ?? "", element.dataset["id"] ?? "");
    } else if (event.key === "Escape" && element.dataset["note"] === "reason") {
      this.setNote(element.dataset["id"] ?? "", undefined);
    }
  }

  private noted(event: Event): void {
    const input = event.target as HTMLInputElement;
    const id = input.dataset["id"];
    // Kept without drawing again, which would take the cursor away.
    if (input.dataset["note"] === "reason" && id !== undefined) this.reasons.set(id, input.value);
  }

  private readonly reasons = new Map<string, string>();

  send(message: FromPage): void {
    this.host.send(message);
  }

  submit(): void {
    this.composer.submit();
  }

  detach(index: number): void {
    this.composer.detach(index);
  }

  toEnd(): void {
    this.list?.toEnd();
  }

  edit(id: string): void {
    const place = this.transcript?.find(id);
    const entry = place === undefined ? undefined : this.transcript?.entries[place];
    if (entry?.kind === "message") this.composer.edit(entry.text);
  }

  retry(): void {
    const last = this.prompts().at(-1);
    if (last !== undefined)
      this.host.send({ type: "prompt", text: last, blocks: [], instead: false });
  }

  reveal(id: string): void {
    const row = this.rows?.rowOf(id);
    if (row !== undefined) this.list?.reveal(row);
    this.list?.element(id)?.querySelector<HTMLElement>("button")?.focus();
  }

  toggle(id: string): void {
    this.opened.set(id, !this.isOpen(id));
    const splice = this.rows?.toggled(id);
    if (splice && splice.insert + splice.remove > 0)
      this.list?.splice(splice.at, splice.remove, splice.insert);
    this.list?.schedule();
    this.save();
  }

  setNote(id: string, note: string | undefined): void {
    if (note === undefined) this.notes.delete(id);
    else this.notes.set(id, note);
    this.list?.schedule();
    requestAnimationFrame(() =>
      requestAnimationFrame(() =>
        this.list?.element(id)?.querySelector<HTMLElement>("input")?.focus(),
      ),
    );
  }

  rejectWhy(askId: string, id: string): void {
    const reason = (this.reasons.get(id) ?? "").trim();
    this.host.send({
      type: "decide",
      params: { askId, verdict: "reject", ...(reason === "" ? {} : { reason }) },
    });
    this.setNote(id, undefined);
  }

  problem(text: string): void {
    const dismiss = button("dismiss", "Dismiss", {}, icon("close"));
    fill(this.place("problem"), [box("error", text, dismiss)]);
  }

  dismiss(): void {
    fill(this.place("problem"), []);
  }

  private prompts(): readonly string[] {
    return (this.transcript?.entries ?? []).flatMap((entry) =>
      entry.kind === "message" && entry.role === "user" ? [entry.text] : [],
    );
  }

  private isOpen(id: string): boolean {
    const chosen = this.opened.get(id);
    if (chosen !== undefined) return chosen;
    const place = this.transcript?.find(id);
    const entry = place === undefined ? undefined : this.transcript?.entries[place];
    return entry?.kind === "tool_call" && opensByItself(entry);
  }

  // -- over hiding and reload

  private restore(): void {
    const state = this.host.load();
    if (!state) return;
    this.sessionId = state.sessionId;
    for (const id of state.opened) this.opened.set(id.slice(1), id.startsWith("+"));
    this.composer.draft = state.draft;
    for (const one of state.attachments) this.composer.attach(one);
  }

  private save(): void {
    this.saving ||= window.setTimeout(() => {
      this.saving = 0;
      const { sessionId } = this;
      const { draft } = this.composer;
      this.host.send({ type: "keep", sessionId, draft });
      this.host.save({
        sessionId,
        draft,
        attachments: this.composer.attachments,
        opened: [...this.opened]
          .slice(-MOST_REMEMBERED)
          .map(([id, open]) => `${open ? "+" : "-"}${id}`),
      });
    }, 100);
  }
}

function welcome(): Node {
  return h(
    "div.welcome",
    {},
    icon("hubot", "welcome-icon"),
    h("h2", {}, "What should the agent do?"),
    h(
      "p",
      {},
      "It asks before it changes or runs anything, here and at the line it is about. The first answer counts.",
    ),
    h(
      "p.muted",
      {},
      "@ adds files, symbols, the selection, problems or a diff. / lists the agent’s own commands. Pictures can be pasted.",
    ),
  );
}
