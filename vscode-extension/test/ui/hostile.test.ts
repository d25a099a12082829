import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { place, story } from "./harness";
import { hostileScenario } from "./hostile";

test("hostile content of an agent does nothing but look odd", async () => {
  const folder = mkdtempSync(join(tmpdir(), "agentls-hostile-"));
  const file = join(folder, "hostile.jsonl");
  writeFileSync(file, hostileScenario());
  const agents = {
    hostile: [place.python, "-m", "agentls.agent.replay", file, "--patience", "60"],
  };
  try {
    await story({ settings: { "agentls.agent": "hostile" }, agents }, async (editor) => {
      const foreign: string[] = [];
      editor.page.on("request", (request) => {
        if (
          !/^(http:\/\/127\.0\.0\.1|data:|blob:|https:\/\/[\w+.-]+\.vscode-cdn\.net\/)/.test(
            request.url(),
          )
        )
          foreign.push(request.url());
      });
      let asked = false;
      editor.page.on("dialog", (dialog) => {
        asked = true;
        void dialog.dismiss();
      });
      const chat = await editor.chat();
      await editor.say(chat, "Do your worst");
      await chat.locator(".ask").waitFor();
      const frame = await editor.chatFrame();
      await frame.locator("#list").press("Home");
      await chat.getByText("window.hacked").first().waitFor();
      await editor.picture("hostile");
      const seen = await frame.evaluate(() => ({
        hacked: "hacked" in window,
        elements: document.querySelectorAll(
          "#list :is(script, iframe, img, svg, object, embed, form, style, link)",
        ).length,
        handlers: [...document.querySelectorAll("#list .row, #list .row *")].filter((one) =>
          one
            .getAttributeNames()
            .some(
              (name) =>
                name.startsWith("on") || name === "href" || name === "src" || name === "style",
            ),
        ).length,
        links: [...document.querySelectorAll<HTMLElement>("#list [data-href]")].map(
          (one) => one.dataset["href"] ?? "",
        ),
      }));
      assert.deepEqual([seen.hacked, seen.elements, seen.handlers], [false, 0, 0]);
      for (const link of seen.links)
        assert.doesNotMatch(link, /^(javascript|command|vscode|data):/i);
      await editor.command("View: Hide Secondary Side Bar");
      await editor.toast().waitFor();
      const labels = await editor.toast().locator("a").allTextContents();
      assert.ok(!labels.includes("Click"), "no link of the agent's in the notification");
      await editor.toast().getByText("Reject", { exact: true }).click();
      await editor.toast().waitFor({ state: "detached" });
      assert.equal(asked, false);
      assert.deepEqual(foreign, []);
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
