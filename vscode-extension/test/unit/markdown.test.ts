import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Blocks } from "../../src/page/markdown/blocks";
import { render } from "../../src/page/markdown/render";
import { textOf, type Node } from "../../src/page/node";
import { target } from "../../src/common/links";

function shown(markdown: string): readonly Node[] {
  const blocks = new Blocks(markdown);
  return Array.from({ length: blocks.length }, (_, i) => blocks.at(i)).flatMap((b) =>
    b ? render(b) : [],
  );
}

const TAGS = new Set(
  "p strong em s ul ol li blockquote table thead tbody tr th td h1 h2 h3 h4 h5 h6 a span code pre div hr br button".split(
    " ",
  ),
);
const ATTRIBUTES =
  /^(class|role|tabindex|title|start|type|aria-hidden|aria-label|data-do|data-href)$/;

function check(node: Node): void {
  if (typeof node === "string") return;
  assert.ok(TAGS.has(node.tag), node.tag);
  for (const [name, value] of Object.entries(node.attributes)) {
    assert.match(name, ATTRIBUTES);
    if (name === "data-href") assert.ok(target(value), `a link to ${value}`);
    if (name === "data-do") assert.match(value, /^(link|copy-code|insert-code)$/);
  }
  node.children.forEach(check);
}

const hostile = fc.constantFrom(
  "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[a](javascript:alert(1))", "[a](command:x)", "![i](https://x.example/p.png)",
  "[b](vscode://x)", "<a href='javascript:x'>", "[c](data:text/html,x)", "[d](https://user:pass@x.example)", "`a`", "**", "[", "](", "```html\n", "\n", "\n\n",
  "- ", "1. ", "> ", "| a |\n|---|\n", "\u202e", "https://a.example ", "[e](src/a.py:3)", "#", "<!--", "&lt;", "\\", "javascript:alert(1) ",
); // prettier-ignore

test("whatever an agent writes, only harmless elements come out", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(hostile, fc.string()), { maxLength: 30 }), (parts) =>
      shown(parts.join("")).forEach(check),
    ),
    { numRuns: 500 },
  );
});

test("HTML is text", () => {
  const nodes = shown("Look: <script>alert(1)</script> <b onclick=x>bold</b>");
  assert.equal(nodes.map(textOf).join(""), "Look: <script>alert(1)</script> <b onclick=x>bold</b>");
});

test("a picture is a link to it, never the picture", () => {
  assert.doesNotMatch(JSON.stringify(shown("![alt](https://x.example/spy.png)")), /"img"/);
});

test("characters that hide the direction of text are seen", () => {
  assert.equal(shown("a\u202eb").map(textOf).join(""), "a⟨U+202E⟩b");
});

test("code is highlighted in its language, and stays what it was", () => {
  const [block] = shown("```python\ndef f(x):\n    return 'a'  # c\n```\n");
  assert.ok(block);
  assert.match(JSON.stringify(block), /hl-keyword/);
  assert.match(textOf(block), /def f\(x\):\n {4}return 'a' {2}# c/);
});

test("lists, tables and links keep their structure", () => {
  const text = JSON.stringify(
    shown("3. a\n4. b\n\n| x | y |\n|---|--:|\n| 1 | 2 |\n\n[site](https://a.example)"),
  );
  assert.match(text, /"start":"3"/);
  assert.match(text, /"class":"right"/);
  assert.match(text, /"data-href":"https:\/\/a.example"/);
});
