import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { story, type Editor } from "./harness";

const demo = { settings: { "agentls.agent": "demo" } };

async function reload(editor: Editor): Promise<void> {
  await editor.page.reload();
  await editor.page.waitForSelector('.statusbar-item[id*="agentls"]');
}

test("after a reload in mid-turn the chat is back with what was being written, and goes on", () =>
  story(demo, async (editor) => {
    const chat = await editor.chat();
    await editor.say(chat, "/slow 2000");
    await chat.getByText("word3").waitFor();
    await chat.locator("textarea").fill("not finished");
    // The page saves a moment later, and VS Code keeps that when the window closes.
    await editor.page.waitForTimeout(500);
    await reload(editor);
    await editor.chat();
    await chat.getByText("word3").waitFor();
    await chat.locator(".user").filter({ hasText: "/slow 2000" }).waitFor();
    assert.equal(await chat.locator("textarea").inputValue(), "not finished");
    await editor.picture("reload");
    await editor.say(chat, "/plan");
    await chat.locator(".plan").waitFor();
    await chat.getByText("word3").first().waitFor();
  }));

test("after a reload asks, terminals and changes of the session are back", () =>
  story(demo, async (editor) => {
    const chat = await editor.chat();
    await editor.say(chat, "/run echo printed; echo more >> README.md");
    await chat.locator(".ask").getByRole("button", { name: "Allow", exact: true }).click();
    await chat.locator(".changes-bar").waitFor();
    await editor.say(chat, "/run echo waiting");
    await chat.locator(".ask").waitFor();
    await reload(editor);
    await editor.chat();
    await chat.locator(".ask-done").nth(1).waitFor();
    await chat.locator(".tool").first().click();
    await chat.getByRole("button", { name: "Open terminal" }).first().click();
    await editor.page
      .locator(".terminal-wrapper.active .xterm-rows")
      .filter({ hasText: "printed" })
      .waitFor();
    await chat.locator(".changes-bar").getByRole("button", { name: "Undo" }).click();
    await chat.locator(".changes-bar").waitFor({ state: "detached" });
    assert.doesNotMatch(readFileSync(join(editor.workspace, "README.md"), "utf8"), /^more$/m);
    await editor.say(chat, "/run echo waiting");
    await chat.locator(".ask").waitFor();
  }));
