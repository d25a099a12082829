// The list that opens above the prompt while a person types / or @.

import type { SessionCommand } from "../protocol.gen";
import type { Mention } from "../common/messages";
import { oneLine } from "../common/plainText";
import { h, icon, toDom } from "./node";

export interface Choice {
  readonly id: string;
  readonly label: string;
  readonly detail: string;
  readonly icon: string;
  /** What takes the place of the word that was typed. */
  readonly text: string;
  readonly mention: boolean;
}

export interface Word {
  readonly kind: "command" | "mention";
  readonly query: string;
  readonly start: number;
}

/** The word before the cursor, if it is one that can be completed. */
export function wordAt(text: string, cursor: number): Word | undefined {
  const before = text.slice(0, cursor);
  const command = /^\/([\w:.-]*)$/.exec(before);
  if (command) return { kind: "command", query: command[1] ?? "", start: 0 };
  const mention = /(?:^|\s)@([\w./:#-]*)$/.exec(before);
  if (!mention) return undefined;
  const query = mention[1] ?? "";
  return { kind: "mention", query, start: cursor - query.length - 1 };
}

export function commandChoices(
  commands: readonly SessionCommand[],
  query: string,
): readonly Choice[] {
  const wanted = query.toLowerCase();
  return commands
    .filter((command) => command.name.toLowerCase().includes(wanted))
    .sort((a, b) => Number(b.name.startsWith(query)) - Number(a.name.startsWith(query)))
    .slice(0, 50)
    .map((command) => ({
      id: command.name,
      label: `/${oneLine(command.name, 60)}${command.hint ? ` ${oneLine(command.hint, 40)}` : ""}`,
      detail: oneLine(command.description ?? "", 120),
      icon: "terminal-view-icon",
      text: `/${command.name} `,
      mention: false,
    }));
}

export function mentionChoices(items: readonly Mention[]): readonly Choice[] {
  return items.map((item) => ({
    ...item,
    text: `@${item.label.replace(/\s+/g, "_")} `,
    mention: true,
  }));
}

/** A listbox; the prompt keeps the focus. */
export class CompletionList {
  private choices: readonly Choice[] = [];
  private selected = 0;

  constructor(
    private readonly element: HTMLElement,
    private readonly input: HTMLElement,
    private readonly accept: (choice: Choice) => void,
  ) {
    element.addEventListener("mousedown", (event) => {
      event.preventDefault();
      const option = (event.target as HTMLElement).closest<HTMLElement>("[data-index]");
      if (option) this.take(Number(option.dataset["index"]));
    });
  }

  get isOpen(): boolean {
    return this.choices.length > 0;
  }

  show(choices: readonly Choice[]): void {
    this.choices = choices;
    this.selected = 0;
    this.draw();
  }

  close(): void {
    if (this.isOpen) this.show([]);
  }

  /** Whether the key was for the list. */
  key(name: string): boolean {
    if (!this.isOpen) return false;
    if (name === "ArrowDown") this.move(1);
    else if (name === "ArrowUp") this.move(-1);
    else if (name === "Enter" || name === "Tab") this.take(this.selected);
    else if (name === "Escape") this.close();
    else return false;
    return true;
  }

  private move(by: number): void {
    this.selected = (this.selected + by + this.choices.length) % this.choices.length;
    this.draw();
  }

  private take(index: number): void {
    const choice = this.choices[index];
    this.close();
    if (choice) this.accept(choice);
  }

  private draw(): void {
    this.element.hidden = !this.isOpen;
    this.input.setAttribute("aria-expanded", String(this.isOpen));
    this.input.setAttribute("aria-activedescendant", this.isOpen ? `choice-${this.selected}` : "");
    this.element.replaceChildren(
      ...this.choices.map((choice, index) =>
        toDom(
          h(
            index === this.selected ? "div.choice.selected" : "div.choice",
            {
              role: "option",
              id: `choice-${index}`,
              "aria-selected": String(index === this.selected),
              "data-index": String(index),
            },
            icon(choice.icon),
            h("span.choice-label", {}, choice.label),
            h("span.choice-detail", {}, choice.detail),
          ),
        ),
      ),
    );
    this.element.querySelector(".selected")?.scrollIntoView({ block: "nearest" });
  }
}
