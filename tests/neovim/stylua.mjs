// Formats the Lua of the plugin with StyLua: `node stylua.mjs STYLUA FOLDER [--check]`.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [stylua, folder, mode] = process.argv.slice(2);
const { Config, IndentType, OutputVerification, formatCode } = createRequire(import.meta.url)(stylua);

function config() {
  // The same as stylua.toml, which editors read.
  const wanted = Config.new();
  wanted.column_width = 110;
  wanted.indent_type = IndentType.Spaces;
  wanted.indent_width = 2;
  return wanted;
}

let wrong = 0;
for (const name of readdirSync(folder, { recursive: true }).sort()) {
  if (!name.endsWith(".lua") || name.endsWith("protocol.lua")) continue;
  const path = join(folder, name);
  const text = readFileSync(path, "utf8");
  const formatted = formatCode(text, config(), undefined, OutputVerification.None);
  if (formatted === text) continue;
  if (mode === "--check") {
    console.error(`make fix would format ${path}`);
    wrong += 1;
  } else {
    writeFileSync(path, formatted);
  }
}
process.exit(wrong ? 1 : 0);
