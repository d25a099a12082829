// Highlighted code as nodes; a language that is not known stays plain.

import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import lua from "highlight.js/lib/languages/lua";
import makefile from "highlight.js/lib/languages/makefile";
import markdown from "highlight.js/lib/languages/markdown";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import shell from "highlight.js/lib/languages/shell";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { h, type Node } from "./node";

const LANGUAGES = {
  bash, c, cpp, csharp, css, diff, go, ini, java, javascript, json, kotlin, lua, makefile, markdown, php, python,
  ruby, rust, shell, sql, swift, typescript, xml, yaml,
}; // prettier-ignore

for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);
hljs.registerAliases("jsonc", { languageName: "json" });

/** Longer code is shown plain: highlighting it would be felt. */
const LONGEST = 20_000;

interface Scope {
  readonly scope?: string;
  readonly children: readonly (Scope | string)[];
}

export function highlight(code: string, info: string): readonly Node[] {
  const language = /^[\w+#.-]+/.exec(info)?.[0].toLowerCase() ?? "";
  if (code.length > LONGEST || !hljs.getLanguage(language)) return [code];
  const found = hljs.highlight(code, { language, ignoreIllegals: true }) as unknown as {
    readonly _emitter: { readonly root: Scope };
  };
  return nodes(found._emitter.root);
}

function nodes(scope: Scope): readonly Node[] {
  return scope.children.map((child) => {
    if (typeof child === "string") return child;
    const name = child.scope?.split(".")[0] ?? "";
    return /^[a-z_-]+$/.test(name)
      ? h(`span.hl-${name}`, {}, nodes(child))
      : h("span", {}, nodes(child));
  });
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  py: "python", js: "javascript", mjs: "javascript", cjs: "javascript", jsx: "javascript", ts: "typescript",
  tsx: "typescript", rs: "rust", rb: "ruby", sh: "bash", zsh: "bash", yml: "yaml", md: "markdown", h: "c",
  hpp: "cpp", cc: "cpp", cs: "csharp", kt: "kotlin", html: "xml", svg: "xml", toml: "ini", cfg: "ini",
}; // prettier-ignore

/** The language of a file by its name. */
export function languageOf(path: string): string {
  const extension = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
  return EXTENSIONS[extension] ?? extension;
}
