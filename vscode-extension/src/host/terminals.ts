// The commands that agents run: a list, and each as an integrated terminal when a person wants it.
//
// Invariant: a terminal of VS Code is only a view of one that the server has. Closing the view ends
// the command if the server runs it; what an agent runs itself can be watched and nothing else.

import * as vscode from "vscode";
import { methods, type TerminalDataParams, type TerminalItem } from "../protocol.gen";
import { oneLine, withoutEscapes } from "../common/plainText";
import { commandIds } from "./manifest.gen";
import type { Server } from "./server";

export function keyOf(item: { readonly sessionId: string; readonly terminalId: string }): string {
  return `${item.sessionId} ${item.terminalId}`;
}

export class Terminals implements vscode.TreeDataProvider<TerminalItem>, vscode.Disposable {
  private readonly items = new Map<string, TerminalItem>();
  private readonly views = new Map<
    string,
    { readonly terminal: vscode.Terminal; readonly view: View }
  >();
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly parts: readonly vscode.Disposable[];

  constructor(private readonly server: Server) {
    this.parts = [
      server.onNotification(methods.terminalDidOpen, ({ terminal }) => this.put(terminal)),
      server.onNotification(methods.terminalDidExit, ({ terminal }) => this.put(terminal)),
      server.onNotification(methods.terminalData, (data) =>
        this.views.get(keyOf(data))?.view.write(data),
      ),
      server.onState(({ state }) => void this.refresh(state === "running")),
    ];
  }

  find(sessionId: string, terminalId: string): TerminalItem | undefined {
    return this.items.get(keyOf({ sessionId, terminalId }));
  }

  show(item: TerminalItem): void {
    const key = keyOf(item);
    const known = this.views.get(key);
    if (known) return known.terminal.show();
    const view = new View(this.server, item, () => this.views.delete(key));
    const terminal = vscode.window.createTerminal({
      name: oneLine(item.source === "mirrored" ? `${item.command} (read-only)` : item.command, 40),
      iconPath: new vscode.ThemeIcon("hubot"),
      isTransient: true,
      pty: view,
    });
    this.views.set(key, { terminal, view });
    terminal.show();
  }

  /** What a command of an earlier life printed; there is nothing to type into any more. */
  showPast(output: string): void {
    const terminal = vscode.window.createTerminal({
      name: "Past command (read-only)",
      iconPath: new vscode.ThemeIcon("hubot"),
      isTransient: true,
      pty: new PastView(output),
    });
    terminal.show();
  }

  async kill(item: TerminalItem): Promise<void> {
    if (item.source === "mirrored")
      throw new Error("The agent runs this command itself. Stop the turn to end it.");
    await this.server.request(methods.terminalKill, {
      sessionId: item.sessionId,
      terminalId: item.terminalId,
    });
  }

  getChildren(element?: TerminalItem): TerminalItem[] {
    return element ? [] : [...this.items.values()].reverse();
  }

  getTreeItem(item: TerminalItem): vscode.TreeItem {
    const shown = new vscode.TreeItem(oneLine(item.command, 100));
    const readOnly = item.source === "mirrored";
    shown.id = keyOf(item);
    shown.description = [stateOf(item), readOnly ? "read-only" : ""]
      .filter((word) => word !== "")
      .join(" · ");
    shown.iconPath = new vscode.ThemeIcon(iconOf(item));
    shown.tooltip = `${oneLine(item.command, 1000)}\nin ${item.cwd}`;
    shown.contextValue = item.running && !readOnly ? "terminal.running" : "terminal";
    shown.command = { command: commandIds.showTerminal, title: "Show", arguments: [item] };
    return shown;
  }

  dispose(): void {
    for (const part of [...this.parts, this.changed]) part.dispose();
    for (const { terminal, view } of [...this.views.values()]) {
      view.forget();
      terminal.dispose();
    }
  }

  private put(item: TerminalItem): void {
    this.items.set(keyOf(item), item);
    if (!item.running) this.views.get(keyOf(item))?.view.ended(item);
    this.changed.fire();
  }

  private async refresh(running: boolean): Promise<void> {
    this.items.clear();
    for (const { view } of this.views.values()) view.lost();
    this.changed.fire();
    if (!running) return;
    const { terminals } = await this.server.request(methods.terminalList, {});
    for (const item of terminals) this.put(item);
  }
}

function stateOf(item: TerminalItem): string {
  if (item.running) return "running";
  if ((item.signal ?? "") !== "") return oneLine(item.signal ?? "", 20);
  return item.exitCode == null ? "ended" : `exit code ${item.exitCode}`;
}

function iconOf(item: TerminalItem): string {
  if (item.running) return "loading~spin";
  return item.exitCode === 0 ? "pass" : "error";
}

/** Clears the screen and what was scrolled away. */
const CLEAR = "\x1b[2J\x1b[3J\x1b[H";

class View implements vscode.Pseudoterminal {
  private readonly written = new vscode.EventEmitter<string>();
  // eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- VS Code's own type
  private readonly closed = new vscode.EventEmitter<number | void>();
  readonly onDidWrite = this.written.event;
  readonly onDidClose = this.closed.event;
  private attached = false;
  private over = false;
  private told = false;

  constructor(
    private readonly server: Server,
    private readonly item: TerminalItem,
    private readonly onGone: () => void,
  ) {}

  open(size: vscode.TerminalDimensions | undefined): void {
    void this.attach(size).catch((error: unknown) => this.note(String(error)));
  }

  close(): void {
    this.onGone();
    if (!this.attached || this.over) return;
    const { sessionId, terminalId } = this.item;
    const method = this.item.source === "mirrored" ? methods.terminalDetach : methods.terminalKill;
    // It may have ended, or the server with it: then there is nothing to do.
    this.server.request(method, { sessionId, terminalId }).catch(() => undefined);
  }

  handleInput(text: string): void {
    if (this.over) {
      this.closed.fire();
    } else if (this.item.source === "mirrored") {
      if (!this.told) this.note("read-only: the agent runs this command itself");
      this.told = true;
    } else {
      void this.server
        .request(methods.terminalInput, { ...this.name, text })
        .catch(() => undefined);
    }
  }

  setDimensions(size: vscode.TerminalDimensions): void {
    if (!this.attached || this.over || this.item.source === "mirrored") return;
    void this.server
      .request(methods.terminalResize, { ...this.name, ...size })
      .catch(() => undefined);
  }

  write(data: TerminalDataParams): void {
    this.written.fire((data.reset === true ? CLEAR : "") + this.text(data.text));
  }

  ended(item: TerminalItem): void {
    if (this.over || !this.attached) return;
    this.over = true;
    this.note(`${stateOf(item)}; press any key to close`);
  }

  /** The server is gone, and the command with it. */
  lost(): void {
    if (this.over) return;
    this.over = true;
    this.note("the server has ended; press any key to close");
  }

  /** From now on closing ends nothing. */
  forget(): void {
    this.over = true;
  }

  private get name(): { readonly sessionId: string; readonly terminalId: string } {
    return { sessionId: this.item.sessionId, terminalId: this.item.terminalId };
  }

  private async attach(size: vscode.TerminalDimensions | undefined): Promise<void> {
    const window =
      size && this.item.source !== "mirrored" ? { columns: size.columns, rows: size.rows } : {};
    const found = await this.server.request(methods.terminalAttach, { ...this.name, ...window });
    this.attached = true;
    if (found.truncated === true) this.note("older output is not kept");
    this.written.fire(this.text(found.text));
    if (!found.terminal.running) this.ended(found.terminal);
  }

  /** What an agent reports has bare line ends; a terminal wants the way back too. */
  private text(text: string): string {
    return this.item.source === "mirrored" ? text.replace(/\r?\n/g, "\r\n") : text;
  }

  private note(words: string): void {
    this.written.fire(`\r\n\x1b[2m[${words}]\x1b[0m\r\n`);
  }
}

class PastView implements vscode.Pseudoterminal {
  private readonly written = new vscode.EventEmitter<string>();
  // eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- VS Code's own type
  private readonly closed = new vscode.EventEmitter<number | void>();
  readonly onDidWrite = this.written.event;
  readonly onDidClose = this.closed.event;

  constructor(private readonly output: string) {}

  open(): void {
    const text = withoutEscapes(this.output).replace(/\r?\n/g, "\r\n");
    this.written.fire(`${text}\r\n\x1b[2m[ended; press any key to close]\x1b[0m\r\n`);
  }

  close(): void {
    this.written.dispose();
  }

  handleInput(): void {
    this.closed.fire();
  }
}
