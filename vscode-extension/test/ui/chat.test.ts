import assert from "node:assert/strict";
import { test } from "node:test";
import { story } from "./harness";

test("a tour of the demo agent: text, plan, tool cards, a diff, asks answered in the chat", () =>
  story({ settings: { "agentls.agent": "demo" } }, async (editor) => {
    await editor.openFile("greet.py");
    const chat = await editor.chat();
    await editor.widen();
    await editor.picture("start");
    await editor.say(chat, "Please mend the greeting");
    const ask = chat.locator(".ask");
    await ask.waitFor();
    await editor.picture("ask");
    await ask.getByRole("button", { name: "Allow", exact: true }).first().click();
    await chat.locator(".ask-done").first().waitFor();
    await ask.waitFor();
    await ask.locator(".ask-shown").waitFor();
    assert.match((await ask.locator(".ask-shown").textContent()) ?? "", /unittest/);
    await ask.getByRole("button", { name: "Allow", exact: true }).first().click();
    await chat.locator(".turn-end").waitFor();
    await chat.getByText("What happened").waitFor();
    await editor.picture("chat");
    assert.equal(await chat.locator(".ask").count(), 0);
  }));
