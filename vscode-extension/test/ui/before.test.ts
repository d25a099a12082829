import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { story } from "./harness";

test("a proposed change is edited in the diff editor before it is accepted", () =>
  story({ settings: { "agentls.agent": "demo", "agentls.review": "before" } }, async (editor) => {
    const greet = () => readFileSync(join(editor.workspace, "greet.py"), "utf8");
    const before = greet();
    const chat = await editor.chat();
    await editor.say(chat, "/edit greet.py Hello Goodbye");
    await chat.locator(".ask").getByRole("button", { name: "Edit first…" }).click();
    await editor.page.locator(".tab").filter({ hasText: "proposed" }).waitFor();
    const page = editor.page.locator(".monaco-diff-editor .editor.modified");
    const line = page.locator(".view-line").filter({ hasText: "Goodbye" }).first();
    const focused = page.locator(".monaco-editor.focused, .monaco-editor:focus-within");
    // The diff is still being laid out when it can be clicked first.
    for (let tries = 0; tries < 20 && !(await focused.isVisible()); tries++) {
      await line.click();
      await editor.page.waitForTimeout(250);
    }
    await focused.waitFor();
    await editor.page.keyboard.press("Control+Home");
    await editor.page.keyboard.type("# mine\n");
    await page.locator(".view-line").filter({ hasText: "# mine" }).waitFor();
    await editor.picture("before");
    assert.equal(greet(), before, "nothing is written before it is accepted");
    await editor.page.locator('.editor-actions .action-label[aria-label="Allow Once"]').click();
    await chat.locator(".turn-end").first().waitFor();
    assert.match(greet(), /^# mine\n[^]*Goodbye/);
    await editor.page
      .locator(".tab")
      .filter({ hasText: "proposed" })
      .waitFor({ state: "detached" });
  }));
