import assert from "node:assert/strict";
import { test } from "node:test";
import { story } from "./harness";

test("after a reload of the window the chat is ready again, with what was being written", () =>
  story({ settings: { "agentls.agent": "demo" } }, async (editor) => {
    const chat = await editor.chat();
    await editor.say(chat, "/slow 2000");
    await chat.getByText("word3").waitFor();
    await chat.locator("textarea").fill("not finished");
    // The page saves a moment later, and VS Code keeps that when the window closes.
    await editor.page.waitForTimeout(500);
    await editor.page.reload();
    await editor.page.waitForSelector('.statusbar-item[id*="agentls"]');
    await editor.chat();
    assert.equal(await chat.locator("textarea").inputValue(), "not finished");
    await editor.picture("reload");
    await editor.say(chat, "/plan");
    await chat.locator(".plan").waitFor();
  }));
