import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Blocks, LONGEST } from "../../src/page/markdown/blocks";

const piece = fc.constantFrom(
  "Some words. ", "\n", "\n\n", "```py\n", "```\n", "~~~~\n", "- item\n", "1. first\n", "2) second\n", "  indented\n",
  "\tdeep\n", "# Heading\n", "  ```\n", "> quote\n", "| a | b |\n", "x".repeat(700), "word ".repeat(300), "*", "`",
); // prettier-ignore
const text = fc.array(piece, { maxLength: 60 }).map((parts) => parts.join(""));

function sources(blocks: Blocks): readonly string[] {
  return Array.from({ length: blocks.length }, (_, i) => blocks.at(i)?.source ?? "");
}

test("the blocks joined are the text", () => {
  fc.assert(fc.property(text, (of) => assert.equal(sources(new Blocks(of)).join(""), of)));
});

test("it makes no difference in which pieces the text comes", () => {
  fc.assert(
    fc.property(text, fc.array(fc.integer({ min: 1, max: 900 })), (of, sizes) => {
      const grown = new Blocks();
      let at = 0;
      for (const size of [...sizes, of.length]) {
        grown.append(of.slice(at, at + size));
        at += size;
      }
      const whole = new Blocks(of);
      assert.deepEqual(
        Array.from({ length: grown.length }, (_, i) => grown.at(i)),
        Array.from({ length: whole.length }, (_, i) => whole.at(i)),
      );
    }),
  );
});

test("only the last block changes when text is added", () => {
  fc.assert(
    fc.property(text, text, (before, more) => {
      const blocks = new Blocks(before);
      const old = sources(blocks);
      blocks.append(more);
      assert.deepEqual(sources(blocks).slice(0, Math.max(0, old.length - 1)), old.slice(0, -1));
    }),
  );
});

test("no block is much longer than the limit", () => {
  fc.assert(
    fc.property(text, (of) => {
      for (const source of sources(new Blocks(of))) assert.ok(source.length <= 2 * LONGEST + 2);
    }),
  );
});

test("a line of a million characters becomes many blocks", () => {
  const blocks = new Blocks("a".repeat(1_000_000));
  assert.equal(blocks.length, Math.ceil(1_000_000 / LONGEST));
});

test("paragraphs, headings, lists and code are blocks of their own", () => {
  const blocks = new Blocks(
    "One\ntwo.\n\n# Head\nText:\n- a\n\n  more\n\n- b\n\nEnd.\n```js\nlet x;\n\nlet y;\n```\nLast",
  );
  assert.deepEqual(sources(blocks), [
    "One\ntwo.\n\n",
    "# Head\n",
    "Text:\n",
    "- a\n\n  more\n\n- b\n\n",
    "End.\n",
    "```js\nlet x;\n\nlet y;\n```\n",
    "Last",
  ]);
  assert.deepEqual(blocks.at(5)?.code, { info: "js", text: "let x;\n\nlet y;", goesOn: false });
});

test("a fence that is still open is code already", () => {
  const blocks = new Blocks("```sh\nls\n# no heading");
  assert.deepEqual(blocks.at(0)?.code, { info: "sh", text: "ls\n# no heading", goesOn: false });
});

test("a long listing goes on in the next block", () => {
  const listing = "line of code\n".repeat(1000);
  const blocks = new Blocks(`\`\`\`c\n${listing}\`\`\`\nafter`);
  const codes = Array.from({ length: blocks.length }, (_, i) => blocks.at(i)?.code);
  assert.equal(codes.filter(Boolean).length, blocks.length - 1);
  assert.deepEqual(
    codes.map((code) => code?.goesOn),
    [false, true, true, undefined],
  );
  assert.equal(codes.map((code) => (code ? `${code.text}\n` : "")).join(""), listing);
});
