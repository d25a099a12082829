// The entry point of the page.

import type { PageState, ToPage } from "../common/messages";
import { App } from "./app";

interface VsCode {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): VsCode;

function place(name: string): HTMLElement {
  const found = document.getElementById(name);
  if (!found) throw new Error(`the page has no ${name}`);
  return found;
}

const vscode = acquireVsCodeApi();
const app = new App(
  {
    send: (message) => vscode.postMessage(message),
    load: () => vscode.getState() as PageState | undefined,
    save: (state) => vscode.setState(state),
  },
  place,
);
window.addEventListener("message", (event: MessageEvent<ToPage>) => app.receive(event.data));
