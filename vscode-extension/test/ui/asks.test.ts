import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { scenario, story, type Editor } from "./harness";

const demo = { settings: { "agentls.agent": "demo" } };

async function hideChat(editor: Editor): Promise<void> {
  await editor.command("View: Hide Secondary Side Bar");
}

async function inbox(editor: Editor): Promise<void> {
  await editor.command("Agents: Focus on Asks View");
}

test("an ask whose chat is hidden is a notification; its answer counts and it goes", () =>
  story(demo, async (editor) => {
    const chat = await editor.chat();
    await editor.say(chat, "/run echo hello-from-the-agent");
    await chat.locator(".ask").waitFor();
    assert.equal(await editor.toast().count(), 0, "no notification while the chat shows it");
    await hideChat(editor);
    await editor.toast().waitFor();
    assert.match((await editor.toast().textContent()) ?? "", /echo hello-from-the-agent/);
    await editor.picture("notification");
    await editor.toast().getByText("Allow", { exact: true }).click();
    await editor.toast().waitFor({ state: "detached" });
    await editor.chat();
    await chat.locator(".turn-end").waitFor();
    await chat.locator(".decision .yes").waitFor();
  }));

test("hiding a notification answers nothing: the ask waits in the inbox", () =>
  story(demo, async (editor) => {
    const chat = await editor.chat();
    await editor.say(chat, "/run echo never");
    await chat.locator(".ask").waitFor();
    await hideChat(editor);
    await editor.toast().waitFor();
    await editor.toast().locator(".notification-list-item-icon").click();
    await editor.page.keyboard.press("Escape");
    await editor.toast().waitFor({ state: "detached" });
    await inbox(editor);
    const row = editor.page.getByRole("treeitem", { name: "demo asks: echo never" });
    await row.waitFor();
    await editor.picture("inbox");
    await editor.act(row, "Reject");
    await row.waitFor({ state: "detached" });
    await editor.chat();
    await chat.getByText("You rejected").waitFor();
  }));

test("answered in the inbox, the notification goes by itself", () =>
  story(demo, async (editor) => {
    const chat = await editor.chat();
    await editor.say(chat, "/run echo never");
    await chat.locator(".ask").waitFor();
    await hideChat(editor);
    await editor.toast().waitFor();
    await inbox(editor);
    const row = editor.page.getByRole("treeitem", { name: "demo asks: echo never" });
    await editor.act(row, "Reject");
    await editor.toast().waitFor({ state: "detached" });
  }));

test("an ask is a code lens at its line, and the first answer takes it from everywhere", () =>
  story(demo, async (editor) => {
    await editor.openFile("greet.py");
    const chat = await editor.chat();
    await editor.say(chat, "/edit greet.py Hello Goodbye");
    const lens = editor.page.locator(".codelens-decoration a").filter({ hasText: "demo: Allow" });
    await lens.first().waitFor();
    await chat.locator(".ask").waitFor();
    await editor.picture("lens");
    await lens.first().click();
    await lens.first().waitFor({ state: "detached" });
    await chat.locator(".ask").waitFor({ state: "detached" });
    await chat.locator(".turn-end").waitFor();
    assert.match(readFileSync(join(editor.workspace, "greet.py"), "utf8"), /Goodbye/);
  }));

test("a no with a reason reaches the agent as the next prompt", () =>
  story(demo, async (editor) => {
    const chat = await editor.chat();
    await editor.say(chat, "/run echo first");
    await chat.locator(".ask").getByRole("button", { name: "Reject and say why…" }).click();
    await chat.locator(".reason").fill("/run echo second");
    await chat.locator(".reason").press("Enter");
    await chat.locator(".user").filter({ hasText: "/run echo second" }).waitFor();
    await chat.locator(".ask .ask-shown").filter({ hasText: "echo second" }).waitFor();
  }));

test("always allow makes a rule that says what it is, and it is not asked again", () =>
  story(demo, async (editor) => {
    const chat = await editor.chat();
    await editor.say(chat, "/run echo one");
    await chat.locator(".ask").getByRole("button", { name: "Always…" }).click();
    const offer = chat.locator(".always").first();
    assert.match((await offer.locator(".always-label").textContent()) ?? "", /echo/);
    await editor.picture("always");
    await offer.getByRole("button", { name: "in this project" }).click();
    await chat.locator(".turn-end").waitFor();
    assert.match((await chat.locator(".decision").last().textContent()) ?? "", /remembered/);
    await editor.say(chat, "/run echo one");
    await chat.locator(".turn-end").nth(1).waitFor();
    assert.match((await chat.locator(".decision").last().textContent()) ?? "", /Allowed by/);
    const rules = await editor.quick.rows(/^Rules$/, () => editor.command("Agents: List Rules"));
    await rules.filter({ hasText: "allow" }).waitFor();
  }));

test("all open asks are answered at once, after they were shown", () =>
  story(
    { settings: { "agentls.agent": "two" }, agents: { two: scenario("two_asks") } },
    async (editor) => {
      const chat = await editor.chat();
      await editor.say(chat, "Say hello.");
      await chat.locator(".ask").nth(1).waitFor();
      assert.match((await editor.status().textContent()) ?? "", /2 asks/);
      await editor.command("Agents: Reject All Open Asks");
      await chat.locator(".ask-done").nth(1).waitFor();
      assert.equal(await chat.locator(".decision .no").count(), 2);
      assert.doesNotMatch((await editor.status().textContent()) ?? "", /ask/);
    },
  ));
