import assert from "node:assert/strict";
import { test } from "node:test";
import { story } from "./harness";

const demo = { settings: { "agentls.agent": "demo" } };

test("slash commands and mentions are completed, and what was mentioned goes with the prompt", () =>
  story(demo, async (editor) => {
    const chat = await editor.chat();
    const input = chat.locator("textarea");
    await editor.say(chat, "/think");
    await chat.locator(".turn-end").waitFor();
    await input.pressSequentially("/pl");
    await chat.locator(".choice").filter({ hasText: "/plan" }).waitFor();
    await editor.picture("commands");
    await input.press("Enter");
    assert.equal(await input.inputValue(), "/plan ");
    await input.fill("");
    await input.pressSequentially("Look at @test_g");
    const choice = chat.locator(".choice").filter({ hasText: "test_greet.py" });
    await choice.waitFor();
    await editor.picture("mentions");
    await input.press("Tab");
    await chat.locator(".attachments .chip").filter({ hasText: "test_greet.py" }).waitFor();
    assert.equal(await input.inputValue(), "Look at @test_greet.py ");
    await input.press("Enter");
    await chat.locator(".agent").filter({ hasText: "You attached test_greet.py" }).waitFor();
    assert.equal(await chat.locator(".attachments .chip").count(), 0);
  }));

test("the selection of the editor goes to the chat by a key", () =>
  story(demo, async (editor) => {
    await editor.openFile("greet.py");
    const chat = await editor.chat();
    await editor.page.locator(".view-line").first().click();
    await editor.page.keyboard.press("Control+a");
    await editor.page.keyboard.press("Control+Alt+c");
    await chat.locator(".attachments .chip").filter({ hasText: "greet.py:1-" }).waitFor();
  }));

test("a pasted picture is attached, shown and sent", () =>
  story(demo, async (editor) => {
    const chat = await editor.chat();
    await chat.locator("textarea").evaluate((input) => {
      const canvas = document.createElement("canvas");
      canvas.width = canvas.height = 8;
      const bytes = Uint8Array.from(atob(canvas.toDataURL("image/png").split(",")[1] ?? ""), (c) =>
        c.charCodeAt(0),
      );
      const data = new DataTransfer();
      data.items.add(new File([bytes], "shot.png", { type: "image/png" }));
      input.dispatchEvent(
        new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }),
      );
    });
    await chat.locator(".attachments .chip").filter({ hasText: "shot.png" }).waitFor();
    await editor.say(chat, "/think");
    await chat.locator("img.picture").waitFor();
  }));

test("a prompt waits for the running turn; stopping gives it back; a sent one can be edited", () =>
  story(demo, async (editor) => {
    const chat = await editor.chat();
    await editor.say(chat, "/slow 2000");
    await chat.getByText("word3").waitFor();
    await editor.say(chat, "/think");
    await chat.locator(".queued").filter({ hasText: "/think" }).waitFor();
    await editor.picture("queue");
    await chat.getByRole("button", { name: "Stop" }).click();
    await chat.locator(".turn-end").filter({ hasText: "Stopped" }).waitFor();
    const input = chat.locator("textarea");
    await chat.locator(".queued").waitFor({ state: "detached" });
    assert.equal(await input.inputValue(), "/think");
    await input.fill("");
    await input.press("ArrowUp");
    assert.equal(await input.inputValue(), "/slow 2000");
    await input.fill("/say 3");
    await input.press("Enter");
    await chat.locator(".agent").filter({ hasText: "word1 word2 word3" }).last().waitFor();
  }));

test("modes, options and the policy are chosen in VS Code's own lists", () =>
  story(demo, async (editor) => {
    const chat = await editor.chat();
    await editor.say(chat, "/think");
    await chat.locator(".turn-end").waitFor();
    const picker = (title: string) => chat.locator(`.picker[title="${title}"]`);
    const modes = await editor.quick.rows(/^Mode$/, () => picker("Mode").click());
    const name = (await modes.nth(1).getAttribute("aria-label"))?.split(",")[0] ?? "";
    await editor.quick.choose(/^Mode$/, name, () => picker("Mode").click());
    await picker("Mode").filter({ hasText: name }).waitFor();
    const policy = "What the agent may do without asking";
    await editor.quick.choose(new RegExp(policy), "Trust", () => picker(policy).click());
    await chat.locator(".picker.trust").waitFor();
  }));
