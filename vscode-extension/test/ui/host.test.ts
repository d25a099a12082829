import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Editor, place } from "./harness";

test("the tests inside the extension host pass", async () => {
  const editor = await Editor.open({ smoke: true, settings: { "agentls.agent": "demo" } });
  try {
    const ended = new Promise<number>(
      (resolve) => void editor.page.exposeFunction("codeAutomationExit", resolve),
    );
    await editor.page.exposeFunction("codeAutomationLog", () => undefined);
    await editor.page.goto(
      editor.url([
        ["extensionDevelopmentPath", editor.remote(place.extension)],
        ["extensionTestsPath", editor.remote(join(place.extension, "build/host/index.js"))],
        ["skipWelcome", "true"],
      ]),
    );
    await ended;
    const { passed, failed } = JSON.parse(
      readFileSync(join(editor.folder, "results.json"), "utf8"),
    ) as { passed: number; failed: string[] };
    assert.deepEqual(failed, []);
    assert.ok(passed >= 9);
  } finally {
    await editor.close();
  }
});
