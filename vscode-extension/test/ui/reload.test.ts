import assert from "node:assert/strict";
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
    await editor.say(chat, "/plan");
    await chat.locator(".plan").waitFor();
    await chat.getByText("word3").first().waitFor();
  }));

test("after a reload what was printed is shown, and an ask that was open is asked again", () =>
  story(demo, async (editor) => {
    const chat = await editor.chat();
    await editor.say(chat, "/run echo printed");
    await chat.locator(".ask").getByRole("button", { name: "Allow", exact: true }).click();
    await chat.locator(".turn-end").waitFor();
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
    await editor.picture("reload");
    await chat.getByRole("button", { name: "Send it again" }).click();
    await chat.locator(".ask").waitFor();
  }));
