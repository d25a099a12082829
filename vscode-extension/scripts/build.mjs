// Bundles the extension to dist/, and with --tests also the tests to build/.

import { readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const common = { absWorkingDir: root, bundle: true, logLevel: "warning", sourcemap: false };
const node = { ...common, platform: "node", target: "node20", format: "cjs" };
const minify = !process.argv.includes("--tests") || process.argv.includes("--minify");

rmSync(join(root, "dist"), { recursive: true, force: true });
await Promise.all([
  build({
    ...node,
    minify,
    external: ["vscode"],
    entryPoints: ["src/host/extension.ts"],
    outfile: "dist/extension.js",
  }),
  build({
    ...common,
    minify,
    platform: "browser",
    target: "chrome128",
    format: "iife",
    loader: { ".ttf": "file" },
    entryPoints: ["src/page/main.ts", "src/page/style.css"],
    outdir: "dist/page",
  }),
]);
if (process.argv.includes("--tests")) {
  const tests = (folder) =>
    readdirSync(join(root, "test", folder))
      .filter((name) => name.endsWith(".test.ts"))
      .map((name) => `test/${folder}/${name}`);
  const external = ["vscode", "playwright-core"];
  rmSync(join(root, "build"), { recursive: true, force: true });
  await Promise.all([
    build({ ...node, entryPoints: tests("unit"), outdir: "build/unit" }),
    build({ ...node, external, entryPoints: tests("ui"), outdir: "build/ui" }),
    build({ ...node, external, entryPoints: ["test/bench/measure.ts"], outdir: "build/bench" }),
    build({
      ...node,
      external,
      entryPoints: ["test/host/index.ts"],
      outfile: "build/host/index.js",
    }),
  ]);
}
