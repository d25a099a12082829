// Where a person writes: the prompt, what goes with it, and the choices below it.

import type { ContentBlock, SessionHead, SessionOption } from "../protocol.gen";
import type { Attachment, FromPage, Mention } from "../common/messages";
import { oneLine } from "../common/plainText";
import { usageText } from "../common/usage";
import { commandChoices, CompletionList, mentionChoices, wordAt, type Choice } from "./completion";
import { button, fill, h, icon, toDom, type Node } from "./node";

const LARGEST_IMAGE = 5 * 1024 * 1024;

const POLICIES: Readonly<Record<string, readonly [icon: string, label: string]>> = {
  ask: ["shield", "Ask first"],
  accept_edits: ["edit", "Edits allowed"],
  read_only: ["lock", "Read only"],
  trust: ["warning", "Trusted: nothing is asked"],
};

export interface ComposerEvents {
  readonly send: (message: FromPage) => void;
  readonly changed: () => void;
  readonly problem: (text: string) => void;
  readonly lastPrompt: () => string | undefined;
}

export class Composer {
  attachments: readonly Attachment[] = [];
  private head: SessionHead | undefined;
  private agent = "";
  private editing = false;
  private sending = false;
  private readonly input: HTMLTextAreaElement;
  private readonly list: CompletionList;

  constructor(
    private readonly root: HTMLElement,
    private readonly events: ComposerEvents,
  ) {
    root.replaceChildren(toDom(frame()));
    this.input = this.part("textarea") as HTMLTextAreaElement;
    this.list = new CompletionList(this.part(".choices"), this.input, (choice) =>
      this.complete(choice),
    );
    this.input.addEventListener("input", () => this.typed());
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.input.addEventListener("blur", () => this.list.close());
    this.input.addEventListener("paste", (event) => this.dropped(event.clipboardData, event));
    root.addEventListener("dragover", (event) => event.preventDefault());
    root.addEventListener("drop", (event) => this.dropped(event.dataTransfer, event));
    this.show(undefined, "");
  }

  get draft(): string {
    return this.input.value;
  }

  set draft(text: string) {
    this.input.value = text;
    this.grow();
    this.drawTools();
  }

  focus(): void {
    this.input.focus();
  }

  show(head: SessionHead | undefined, agent: string): void {
    this.head = head;
    this.agent = agent;
    this.drawQueue();
    this.drawTools();
  }

  attach(attachment: Attachment): void {
    this.attachments = [...this.attachments, attachment];
    this.drawAttachments();
    this.events.changed();
  }

  detach(index: number): void {
    this.attachments = this.attachments.filter((_, i) => i !== index);
    this.drawAttachments();
    this.events.changed();
    this.focus();
  }

  /** A prompt that was sent before, to be made better. */
  edit(text: string): void {
    this.editing = true;
    this.draft = text;
    this.root.classList.add("editing");
    this.focus();
    this.input.setSelectionRange(text.length, text.length);
  }

  mentions(query: string, items: readonly Mention[]): void {
    const word = wordAt(this.input.value, this.input.selectionStart);
    if (word?.kind === "mention" && word.query === query) this.list.show(mentionChoices(items));
  }

  submit(): void {
    const text = this.draft.trim();
    const blocks: ContentBlock[] = this.attachments.map((one) => one.block);
    if (this.sending || (text === "" && blocks.length === 0)) return;
    this.sending = true;
    this.events.send({ type: "prompt", text, blocks, instead: this.editing });
    this.drawTools();
  }

  /** The prompt has arrived, or not: then it stays for another try. */
  sent(ok: boolean): void {
    this.sending = false;
    if (ok) {
      this.attachments = [];
      this.stopEditing();
      this.draft = "";
      this.drawAttachments();
      this.events.changed();
    }
    this.drawTools();
  }

  private stopEditing(): void {
    this.editing = false;
    this.root.classList.remove("editing");
  }

  private typed(): void {
    this.grow();
    this.drawTools();
    this.events.changed();
    const word = wordAt(this.input.value, this.input.selectionStart);
    if (word?.kind === "command")
      this.list.show(commandChoices(this.head?.commands ?? [], word.query));
    else if (word) this.events.send({ type: "mentions", query: word.query });
    else this.list.close();
  }

  private key(event: KeyboardEvent): void {
    if (event.isComposing) return;
    if (event.key === "Enter" && this.isWholeCommand()) this.list.close();
    if (this.list.key(event.key)) {
      event.preventDefault();
    } else if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      this.submit();
    } else if (event.key === "ArrowUp" && this.draft === "") {
      const last = this.events.lastPrompt();
      if (last !== undefined) {
        event.preventDefault();
        this.edit(last);
      }
    } else if (event.key === "Escape" && this.editing) {
      this.stopEditing();
      this.draft = "";
      this.events.changed();
    }
  }

  /** Nothing is left to complete: Enter sends. */
  private isWholeCommand(): boolean {
    const word = wordAt(this.input.value, this.input.selectionStart);
    const commands = this.head?.commands ?? [];
    return word?.kind === "command" && commands.some((one) => one.name === word.query && !one.hint);
  }

  private complete(choice: Choice): void {
    const cursor = this.input.selectionStart;
    const word = wordAt(this.input.value, cursor);
    if (!word) return;
    this.input.setRangeText(choice.text, word.start, cursor, "end");
    if (choice.mention) this.events.send({ type: "mention", id: choice.id });
    this.grow();
    this.events.changed();
  }

  private dropped(data: DataTransfer | null, event: Event): void {
    const images = [...(data?.files ?? [])].filter((file) =>
      /^image\/(png|jpeg|gif|webp)$/.test(file.type),
    );
    const uris =
      event.type === "drop"
        ? (data?.getData("text/uri-list") ?? "")
            .split(/\r?\n/)
            .filter((line) => line.startsWith("file:"))
        : [];
    if (images.length === 0 && uris.length === 0) return;
    event.preventDefault();
    for (const file of images) this.attachImage(file);
    if (images.length === 0) this.events.send({ type: "files", uris });
  }

  private attachImage(file: File): void {
    if (file.size > LARGEST_IMAGE) {
      this.events.problem("The picture is larger than 5 MB. Make it smaller and try again.");
      return;
    }
    const reader = new FileReader();
    reader.addEventListener("load", () => {
      const data = (reader.result as string).split(",")[1] ?? "";
      const label = file.name === "" ? "picture" : file.name;
      this.attach({ label, block: { kind: "image", mime: file.type, data, name: label } });
    });
    reader.readAsDataURL(file);
  }

  // -- how it looks

  private grow(): void {
    this.input.style.height = "auto";
    this.input.style.height = `${Math.min(this.input.scrollHeight, 240)}px`;
  }

  private drawAttachments(): void {
    const chips = this.attachments.map((one, index) =>
      h(
        "span.chip",
        { title: oneLine(one.block.uri ?? one.label, 200) },
        icon(one.block.kind === "image" ? "file-media" : "file"),
        oneLine(one.label, 40),
        button(
          "detach",
          `Remove ${oneLine(one.label, 40)}`,
          { "data-index": String(index) },
          icon("close"),
        ),
      ),
    );
    fill(this.part(".attachments"), chips);
  }

  private drawQueue(): void {
    const queue = this.head?.queue ?? [];
    const lines = queue.map((text) =>
      h("div.queued", {}, icon("clock"), h("span", {}, oneLine(text, 200))),
    );
    fill(this.part(".queue"), lines);
  }

  private drawTools(): void {
    const head = this.head;
    const running = head?.turnRunning === true;
    const empty = this.draft.trim() === "" && this.attachments.length === 0;
    const usage = head?.usage ? usageText(head.usage) : "";
    fill(this.part(".tools"), [
      button("attach-files", "Attach files", {}, icon("add")),
      ...(head
        ? pickers(head)
        : [
            picker(
              "agent",
              "hubot",
              this.agent === "" ? "Agent" : this.agent,
              "Agent for the new session",
            ),
          ]),
      h("span.space"),
      usage !== "" && h("span.usage", { title: "Context used" }, usage),
      h(
        "span.last-tools",
        {},
        (!running || !empty) && this.sendButton(running, empty),
        running && stopButton(),
      ),
    ]);
    this.input.placeholder = running
      ? "Say what comes next"
      : "Ask the agent (@ context, / commands)";
  }

  private sendButton(running: boolean, empty: boolean): Node {
    const label = running ? "Queue" : "Send";
    const off = empty || this.sending ? { disabled: "" } : {};
    return h(
      "button.icon-button",
      { type: "button", "data-do": "send", title: `${label} (Enter)`, "aria-label": label, ...off },
      icon(running ? "list-ordered" : "send"),
    );
  }

  private part(selector: string): HTMLElement {
    const found = this.root.querySelector<HTMLElement>(selector);
    if (!found) throw new Error(`the page has no ${selector}`);
    return found;
  }
}

function stopButton(): Node {
  return button("stop", "Stop (Ctrl+Escape)", {}, icon("stop-circle"));
}

function frame(): Node {
  return h(
    "div.composer",
    {},
    h("div.queue", { "aria-label": "Waiting prompts" }),
    h("div.editing-bar", {}, "Edit and send again. Escape: leave it."),
    h(
      "div.input-box",
      {},
      h("div.choices", { role: "listbox", id: "choices", "aria-label": "Suggestions", hidden: "" }),
      h("div.attachments"),
      h("textarea", {
        rows: "1",
        role: "combobox",
        "aria-label": "Prompt",
        "aria-controls": "choices",
        "aria-expanded": "false",
        "aria-autocomplete": "list",
      }),
      h("div.tools", { role: "toolbar", "aria-label": "Prompt options" }),
    ),
  );
}

function pickers(head: SessionHead): readonly Node[] {
  const mode = head.modes?.find((one) => one.id === head.mode);
  const [policyIcon, policyLabel] = POLICIES[head.policy ?? "ask"] ?? ["shield", head.policy ?? ""];
  return [
    ...((head.modes ?? []).length > 0
      ? [picker("mode", "compass", oneLine(mode?.name ?? head.mode ?? "Mode", 30), "Mode")]
      : []),
    // Agents that have both offer the mode as an option too.
    ...(head.options ?? [])
      .filter((option) => option.category !== "mode" || (head.modes ?? []).length === 0)
      .map(optionPicker),
    picker(
      "policy",
      policyIcon,
      policyLabel,
      "What the agent may do without asking",
      head.policy === "trust" ? "trust" : "",
    ),
  ];
}

function optionPicker(option: SessionOption): Node {
  const value =
    option.choices?.find((choice) => choice.value === option.value)?.name ?? String(option.value);
  const shown =
    typeof option.value === "boolean" ? `${option.name}: ${option.value ? "on" : "off"}` : value;
  return picker(
    "option",
    option.category === "model" ? "sparkle" : "settings",
    oneLine(shown, 30),
    oneLine(option.name, 60),
    "",
    option.id,
  );
}

function picker(
  what: string,
  name: string,
  label: string,
  title: string,
  extra = "",
  option = "",
): Node {
  return h(
    `button.picker${extra === "" ? "" : `.${extra}`}`,
    {
      type: "button",
      "data-do": "pick",
      "data-what": what,
      "data-option": option,
      title,
      "aria-label": `${title}: ${label}`,
    },
    icon(name),
    h("span", {}, label),
  );
}
