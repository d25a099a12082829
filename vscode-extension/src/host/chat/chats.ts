// All pages: the one in the side bar, and any number of tabs.

import * as vscode from "vscode";
import type { PageState } from "../../common/messages";
import { oneLine } from "../../common/plainText";
import type { Context } from "../context";
import { Page } from "./page";

export const VIEW = "agentls.chat";

export class Chats
  implements vscode.WebviewViewProvider, vscode.WebviewPanelSerializer, vscode.Disposable
{
  private view: { readonly view: vscode.WebviewView; readonly page: Page } | undefined;
  private readonly panels = new Map<vscode.WebviewPanel, Page>();
  /** For the side bar before it is opened the first time. */
  private wanted = "";
  private readonly parts: vscode.Disposable[];
  private readonly visibility = new vscode.EventEmitter<void>();
  readonly onVisibility = this.visibility.event;

  constructor(private readonly context: Context) {
    this.parts = [
      vscode.window.registerWebviewViewProvider(VIEW, this),
      vscode.window.registerWebviewPanelSerializer(VIEW, this),
    ];
  }

  /** The session a command without one is about: that of the active tab, or of the side bar. */
  get current(): string {
    const active = [...this.panels].find(([panel]) => panel.active);
    return active?.[1].sessionId ?? this.view?.page.sessionId ?? this.wanted;
  }

  isVisible(sessionId: string): boolean {
    if (this.view?.view.visible === true && this.view.page.sessionId === sessionId) return true;
    return [...this.panels].some(([panel, page]) => panel.visible && page.sessionId === sessionId);
  }

  /** Shows a session in the side bar; an empty id for a new one. */
  async show(sessionId: string): Promise<Page | undefined> {
    this.wanted = sessionId;
    this.view?.page.show(sessionId);
    return this.open();
  }

  /** Shows a session where an entry is. */
  async showAt(sessionId: string, entryId: string): Promise<void> {
    const page = await this.show(sessionId);
    page?.post({ type: "reveal", entryId });
    await this.context.sessions.readTo(sessionId, entryId);
  }

  /** Opens the side bar with what it has. */
  async open(): Promise<Page | undefined> {
    await vscode.commands.executeCommand(`${VIEW}.focus`);
    this.view?.page.post({ type: "focus" });
    return this.view?.page;
  }

  openTab(sessionId: string): void {
    const known = [...this.panels].find(
      ([, page]) => sessionId !== "" && page.sessionId === sessionId,
    );
    if (known) return known[0].reveal();
    const panel = vscode.window.createWebviewPanel(VIEW, "Agent Chat", vscode.ViewColumn.Active, {
      enableFindWidget: true,
    });
    this.adopt(panel, sessionId);
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    const titled = (title: string) => {
      view.description = oneLine(title, 60);
    };
    const page = new Page(this.context, view.webview, this.wanted, titled, this.context.kept);
    this.view = { view, page };
    view.onDidChangeVisibility(() => this.visibility.fire());
    view.onDidDispose(() => {
      page.dispose();
      this.wanted = page.sessionId;
      if (this.view?.page === page) this.view = undefined;
      this.visibility.fire();
    });
    void this.context.server.start();
  }

  deserializeWebviewPanel(panel: vscode.WebviewPanel, state: PageState | undefined): Promise<void> {
    this.adopt(panel, state?.sessionId ?? "");
    void this.context.server.start();
    return Promise.resolve();
  }

  dispose(): void {
    for (const part of this.parts) part.dispose();
    for (const [panel, page] of this.panels) {
      page.dispose();
      panel.dispose();
    }
    this.view?.page.dispose();
  }

  private adopt(panel: vscode.WebviewPanel, sessionId: string): void {
    panel.iconPath = vscode.Uri.joinPath(this.context.extension, "media", "agents.svg");
    const page = new Page(this.context, panel.webview, sessionId, (title) => {
      panel.title = title === "" ? "Agent Chat" : oneLine(title, 40);
    });
    this.panels.set(panel, page);
    panel.onDidChangeViewState(() => this.visibility.fire());
    panel.onDidDispose(() => {
      page.dispose();
      this.panels.delete(panel);
      this.visibility.fire();
    });
  }
}
