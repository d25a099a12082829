// The frame of the page. Nothing in it comes from an agent.

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";

export function html(webview: vscode.Webview, extension: vscode.Uri): string {
  const nonce = randomBytes(16).toString("hex");
  const at = (name: string) =>
    webview.asWebviewUri(vscode.Uri.joinPath(extension, "dist", "page", name)).toString();
  const policy = [
    "default-src 'none'",
    "img-src data:",
    `font-src ${webview.cspSource}`,
    `style-src ${webview.cspSource}`,
    `script-src 'nonce-${nonce}'`,
  ].join("; ");
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${at("style.css")}">
<title>Chat</title>
</head>
<body>
<div id="bar"></div>
<main>
<div id="welcome"></div>
<div id="list" role="log" aria-live="off" aria-label="Conversation" tabindex="0"></div>
<button id="to-end" class="to-end" type="button" data-do="to-end" title="Scroll to the end" aria-label="Scroll to the end" hidden><span class="codicon codicon-arrow-down" aria-hidden="true"></span></button>
</main>
<div id="state"></div>
<div id="problem"></div>
<div id="ask-bar"></div>
<div id="changes"></div>
<div id="composer"></div>
<div id="said" class="sr-only" aria-live="polite"></div>
<script nonce="${nonce}" src="${at("main.js")}"></script>
</body>
</html>`;
}
