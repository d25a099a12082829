import assert from "node:assert/strict";
import { test } from "node:test";
import { story, type Editor } from "./harness";

const demo = { settings: { "agentls.agent": "demo" } };

function screen(editor: Editor) {
  return editor.page.locator(".terminal-wrapper.active .xterm-rows");
}

test("a command of an agent is a terminal: live, typed into, and in the list", () =>
  story(demo, async (editor) => {
    const chat = await editor.chat();
    await editor.widen();
    await editor.say(chat, "/run echo started; read line; echo got-$line");
    await chat.locator(".ask").getByRole("button", { name: "Allow", exact: true }).click();
    await chat.getByRole("button", { name: "Open terminal" }).first().click();
    await screen(editor).filter({ hasText: "started" }).waitFor();
    await editor.page.locator(".terminal-wrapper.active").click();
    await editor.page.keyboard.type("hello\n");
    await screen(editor).filter({ hasText: "got-hello" }).waitFor();
    await screen(editor).filter({ hasText: "press any key to close" }).waitFor();
    await chat.locator(".turn-end").waitFor();
    await editor.command("Agents: Focus on Terminals View");
    await editor.page
      .getByRole("treeitem", { name: /echo started/ })
      .filter({ hasText: "exit code 0" })
      .waitFor();
    await editor.picture("terminal");
  }));

test("closing the terminal ends the command", () =>
  story(demo, async (editor) => {
    const chat = await editor.chat();
    await editor.say(chat, "/run echo started; sleep 600");
    await chat.locator(".ask").getByRole("button", { name: "Allow", exact: true }).click();
    await chat.getByRole("button", { name: "Open terminal" }).first().click();
    await screen(editor).filter({ hasText: "started" }).waitFor();
    await editor.command("Terminal: Kill the Active Terminal Instance");
    await chat.locator(".turn-end").waitFor();
    assert.match((await chat.locator(".agent").last().textContent()) ?? "", /sleep 600/);
  }));
