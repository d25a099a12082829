import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { story } from "./harness";

test("a missing server is told with a button that helps", () =>
  story({ settings: { "agentls.server.command": ["/nowhere/agentls"] } }, async (editor) => {
    await editor.command("Agents: Open Chat");
    const chat = editor.frame();
    await chat.locator(".box.warning").filter({ hasText: "does not start" }).waitFor();
    await chat.getByRole("button", { name: "Show log" }).waitFor();
    await editor.picture("missing");
    const ways = await editor.quick.rows(/How should the agentls server be installed/, () =>
      editor.command("Agents: Install Server…"),
    );
    await ways.filter({ hasText: "I have it already" }).waitFor();
  }));

test("a server that was killed can be started again, and the chat goes on", () =>
  story({ settings: { "agentls.agent": "demo" } }, async (editor) => {
    const chat = await editor.chat();
    await editor.say(chat, "/think");
    await chat.locator(".turn-end").waitFor();
    const pid = serverOf(editor.folder);
    process.kill(pid, "SIGKILL");
    await editor.say(chat, "/plan");
    await chat.locator(".plan").waitFor();
    assert.notEqual(serverOf(editor.folder), pid);
  }));

test("modules that a folder brings along are not run by the server or the demo agent", () => {
  const trap = 'import pathlib; pathlib.Path(__file__ + ".ran").touch()\n';
  const names = ["agentls", "pygls", "msgspec", "acp", "json", "asyncio", "sitecustomize"];
  return story(
    {
      settings: { "agentls.agent": "demo" },
      files: Object.fromEntries(names.map((name) => [`${name}.py`, trap])),
    },
    async (editor) => {
      const chat = await editor.chat();
      await editor.say(chat, "/think");
      await chat.locator(".turn-end").waitFor();
      const ran = readdirSync(editor.workspace).filter((name) => name.endsWith(".ran"));
      assert.deepEqual(ran, []);
    },
  );
});

/** The server of this VS Code: the child of its extension host that is ours. */
function serverOf(folder: string): number {
  const read = (pid: string, name: string) => {
    try {
      return readFileSync(`/proc/${pid}/${name}`, "utf8");
    } catch {
      return "";
    }
  };
  const parent = (pid: string) => /\) \w (\d+)/.exec(read(pid, "stat"))?.[1] ?? "";
  const found = readdirSync("/proc").filter(
    (pid) =>
      /^\d+$/.test(pid) &&
      /agentls(?!-test-editors)/.test(read(pid, "cmdline").replaceAll("/agentls-vscode-", "")) &&
      read(pid, "environ").includes(`XDG_STATE_HOME=${folder}/state`) &&
      read(parent(pid), "cmdline").includes("--type=extensionHost"),
  );
  // Never less than one: to kill process 0 is to kill oneself.
  assert.equal(found.length, 1, `servers: ${found.join(", ")}`);
  return Number(found[0]);
}

test("in a folder that is not trusted nothing is started, and it says so", () =>
  story(
    {
      trust: false,
      settings: {
        "agentls.agent": "demo",
        "security.workspace.trust.startupPrompt": "never",
        "security.workspace.trust.enabled": true,
      },
    },
    async (editor) => {
      await editor.command("Agents: Open Chat");
      const chat = editor.frame();
      await chat.locator(".box.warning").filter({ hasText: "trust" }).waitFor();
      await chat.getByRole("button", { name: "Manage trust" }).click();
      await editor.page.locator(".workspace-trust-editor").waitFor();
    },
  ));
