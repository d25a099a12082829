import assert from "node:assert/strict";
import { test } from "node:test";
import { place, story } from "./harness";

const flood = {
  settings: { "agentls.agent": "flood" },
  agents: { flood: [place.python, place.floodAgent] },
};

test("of a long session only what is seen is in the page, and all of it can be scrolled to", () =>
  story(flood, async (editor) => {
    const chat = await editor.chat();
    await editor.say(chat, "entries 2000");
    await chat.locator(".turn-end").waitFor();
    const elements = await chat.locator("#list *").count();
    assert.ok(elements < 1500, `${elements} elements in the page`);
    await chat.locator("#list").press("Home");
    await chat.locator(".user").filter({ hasText: "entries 2000" }).waitFor();
    await chat.getByText("Step 1", { exact: true }).waitFor();
    await chat.locator("#list").press("End");
    await chat.getByText("Step 1999", { exact: true }).waitFor();
  }));

test("an old session is read from its end, and further back when a person goes there", () =>
  story(flood, async (editor) => {
    const chat = await editor.chat();
    await editor.say(chat, "entries 1000");
    await chat.locator(".turn-end").waitFor();
    await editor.command("View: Hide Secondary Side Bar");
    await editor.page.locator("iframe.webview.ready").waitFor({ state: "detached" });
    await editor.chat();
    await chat.getByText("Step 999", { exact: true }).waitFor();
    const first = chat.locator(".user").filter({ hasText: "entries 1000" });
    // What is looked at stays where it is while older entries come before it: so more than once.
    for (let tries = 0; tries < 50 && !(await first.isVisible()); tries++) {
      await chat.locator("#list").press("Home");
      await editor.page.waitForTimeout(50);
    }
    await first.waitFor();
  }));

test("a flood of text is shown to its last word", () =>
  story(flood, async (editor) => {
    const chat = await editor.chat();
    await editor.say(chat, "flood 20000");
    await chat.getByText("THE-END").waitFor();
    await chat.locator(".turn-end").waitFor();
  }));
