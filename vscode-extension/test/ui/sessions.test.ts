import assert from "node:assert/strict";
import { test } from "node:test";
import { story } from "./harness";

const demo = { settings: { "agentls.agent": "demo" } };

test("sessions are in a tree, in the side bar and in tabs, several at once", () =>
  story(demo, async (editor) => {
    const chat = await editor.chat();
    await editor.say(chat, "/say 5");
    await chat.locator(".turn-end").waitFor();
    await editor.command("Agents: New Session");
    await chat.locator(".welcome").waitFor();
    await editor.say(chat, "/plan");
    await chat.locator(".plan").waitFor();
    await editor.command("Agents: Focus on Sessions View");
    const rows = editor.page.getByRole("treeitem");
    await rows.filter({ hasText: "/say 5" }).waitFor();
    await rows.filter({ hasText: "/plan" }).waitFor();
    const first = rows.filter({ hasText: "/say 5" });
    await editor.act(first, "Open Session in Editor Tab");
    await editor.page.locator(".tab").filter({ hasText: "/say 5" }).waitFor();
    await editor.page.locator("iframe.webview.ready").nth(1).waitFor();
    const frames = [editor.frame(0), editor.frame(1)];
    const texts = await Promise.all(frames.map((frame) => frame.locator("#list").textContent()));
    assert.ok(
      texts.some((text) => text?.includes("word5")),
      "the tab shows its session",
    );
    assert.ok(
      texts.some((text) => text?.includes("Be done")),
      "the side bar shows the other",
    );
    await editor.picture("sessions");
    await editor.act(first, "Close a Session");
    await rows.filter({ hasText: "Past" }).waitFor();
    await first.filter({ hasText: "ready" }).waitFor({ state: "detached" });
    await first.waitFor();
  }));

test("what was written and said is back after hiding the chat", () =>
  story(demo, async (editor) => {
    const chat = await editor.chat();
    await editor.say(chat, "/say 50");
    await chat.locator(".turn-end").waitFor();
    await chat.locator("textarea").fill("a thought that is not finished");
    // The page saves a moment later.
    await chat
      .locator("textarea")
      .evaluate(() => new Promise((resolve) => setTimeout(resolve, 300)));
    await editor.command("View: Hide Secondary Side Bar");
    await editor.page.locator("iframe.webview.ready").waitFor({ state: "detached" });
    await editor.chat();
    await chat.getByText("word50").waitFor();
    assert.equal(await chat.locator("textarea").inputValue(), "a thought that is not finished");
  }));

test("themes: dark and high contrast", () =>
  story(
    { settings: { ...demo.settings, "workbench.colorTheme": "Default High Contrast" } },
    async (editor) => {
      const chat = await editor.chat();
      await editor.say(chat, "Hello");
      await chat.locator(".ask").waitFor();
      await chat.locator("body.vscode-high-contrast").waitFor();
      await editor.picture("contrast");
      await editor.quick.choose(/Select Color Theme/, "Dark Modern", () =>
        editor.command("Preferences: Color Theme"),
      );
      await chat.locator("body.vscode-dark").waitFor();
      await editor.picture("dark");
    },
  ));
