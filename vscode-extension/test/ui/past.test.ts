import { test } from "node:test";
import { story, type Editor } from "./harness";

const demo = { settings: { "agentls.agent": "demo" } };

const rows = (editor: Editor) => editor.page.getByRole("treeitem");

const counting = (editor: Editor) => rows(editor).filter({ hasText: "Counting words" });

test("a past session is found by its words, opened at the place and taken up by the next prompt", () =>
  story(demo, async (editor) => {
    const chat = await editor.chat();
    await editor.say(chat, "/say 30");
    await chat.locator(".turn-end").waitFor();
    await editor.say(chat, "/run echo remarkable-words");
    await chat.locator(".ask").getByRole("button", { name: "Allow", exact: true }).click();
    await chat.locator(".turn-end").nth(1).waitFor();
    await editor.command("Agents: Close a Session");
    await editor.command("Agents: New Session");
    await chat.locator(".welcome").waitFor();
    await editor.quick.choose(
      /Search in all sessions/,
      "remarkable",
      () => editor.command("Agents: Search All Sessions…"),
      "",
      /remarkable-words/,
    );
    await chat.locator(".user").filter({ hasText: "remarkable-words" }).waitFor();
    await chat.getByText("A past session").waitFor();
    await editor.picture("past");
    await editor.say(chat, "/plan");
    await chat.locator(".plan").waitFor();
    await chat.getByText("remarkable-words").first().waitFor();
  }));

test("past sessions are renamed, archived, shown again and exported", () =>
  story(demo, async (editor) => {
    const chat = await editor.chat();
    await editor.say(chat, "/say 3");
    await chat.locator(".turn-end").waitFor();
    await editor.command("Agents: Rename a Session");
    const name = editor.page.locator(".quick-input-widget:visible input[type=text]").first();
    await name.fill("Counting words");
    await name.press("Enter");
    await editor.command("Agents: Focus on Sessions View");
    await counting(editor).waitFor();
    await editor.act(counting(editor), "Close a Session");
    await counting(editor).filter({ hasText: "ready" }).waitFor({ state: "detached" });
    await editor.act(counting(editor), "Archive a Session, Or Bring It Back");
    await counting(editor).waitFor({ state: "detached" });
    await editor.command("Agents: Show Or Hide Archived Sessions");
    await rows(editor).filter({ hasText: "archived" }).waitFor();
    await editor.act(counting(editor), "Take Up a Past Session");
    await rows(editor).filter({ hasText: "ready" }).waitFor();
    await chat.getByText("word3").waitFor();
    await editor.command("Agents: Export a Session");
    await editor.page.locator(".view-line").filter({ hasText: "word1 word2 word3" }).waitFor();
  }));
