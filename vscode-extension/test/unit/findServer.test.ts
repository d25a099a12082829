import assert from "node:assert/strict";
import { test } from "node:test";
import { findServer, type Surroundings } from "../../src/host/findServer";

function around(programs: readonly string[], more: Partial<Surroundings> = {}): Surroundings {
  return {
    setting: [],
    environments: [],
    path: "/usr/bin",
    platform: "linux",
    uvx: false,
    isProgram: (path) => programs.includes(path),
    ...more,
  };
}

test("the setting comes before the environment, the environment before PATH", () => {
  const programs = ["/w/.venv/bin/agentls", "/usr/bin/agentls"];
  const environments = ["/w/.venv/bin"];
  assert.deepEqual(findServer(around(programs, { setting: ["x", "-v"], environments }))?.command, [
    "x",
    "-v",
  ]);
  assert.deepEqual(findServer(around(programs, { environments }))?.command, [
    "/w/.venv/bin/agentls",
  ]);
  assert.deepEqual(findServer(around(programs))?.command, ["/usr/bin/agentls"]);
});

test("a relative entry of PATH does not count", () => {
  assert.equal(
    findServer(around(["./agentls", "agentls", "bin/agentls"], { path: ".:bin::" })),
    undefined,
  );
});

test("uvx is used only after a person agreed", () => {
  assert.equal(findServer(around(["/usr/bin/uvx"])), undefined);
  assert.deepEqual(findServer(around(["/usr/bin/uvx"], { uvx: true }))?.command, [
    "/usr/bin/uvx",
    "agentls",
  ]);
});

test("on Windows programs end with .exe", () => {
  const found = findServer(
    around(["C:\\t\\agentls.exe"], { platform: "win32", path: "C:\\t;D:\\u" }),
  );
  assert.deepEqual(found?.command, ["C:\\t\\agentls.exe"]);
});
