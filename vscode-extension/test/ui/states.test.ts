import assert from "node:assert/strict";
import { test } from "node:test";
import { scenario, story } from "./harness";

test("an agent that wants a login says so, with a button for each way", () =>
  story(
    { settings: { "agentls.agent": "locked" }, agents: { locked: scenario("login_needed") } },
    async (editor) => {
      const chat = await editor.chat();
      await editor.say(chat, "Say hello.");
      const box = chat.locator("#state .box.warning").filter({ hasText: "log in" });
      await box.getByRole("button").first().waitFor();
      await editor.picture("login");
    },
  ));

test("a turn without a sign of life is shown, with stop and restart", () =>
  story(
    {
      settings: { "agentls.agent": "deaf", "agentls.stuckAfter": 1 },
      agents: { deaf: scenario("deaf") },
    },
    async (editor) => {
      const chat = await editor.chat();
      await editor.say(chat, "Say hello.");
      const box = chat.locator("#state .box.warning").filter({ hasText: "no sign of life" });
      await box.getByRole("button", { name: "Restart the agent" }).waitFor();
      await editor.picture("stuck");
      await box.getByRole("button", { name: "Stop" }).click();
      await box.waitFor({ state: "detached" });
    },
  ));

test("files that the agent touches are shown while it works, for who wants to watch", () =>
  story({ settings: { "agentls.agent": "demo", "agentls.followFiles": true } }, async (editor) => {
    const chat = await editor.chat();
    await editor.say(chat, "/edit greet.py Hello Goodbye");
    await chat.locator(".ask").getByRole("button", { name: "Allow", exact: true }).click();
    const tab = editor.page.locator(".tab").filter({ hasText: "greet.py" });
    await tab.waitFor();
    await chat.locator(".turn-end").waitFor();
    assert.equal(await tab.count(), 1);
  }));
