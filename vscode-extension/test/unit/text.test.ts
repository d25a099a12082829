import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { output } from "../../src/page/ansi";
import { commandChoices, wordAt } from "../../src/page/completion";
import { textOf } from "../../src/page/node";
import { fileHref, fileInCode, target } from "../../src/common/links";
import { forNotification, oneLine, visible } from "../../src/common/plainText";
import { short, usageText } from "../../src/common/usage";

test("only web pages and files are links", () => {
  assert.deepEqual(target("https://a.example/x"), { type: "web", url: "https://a.example/x" });
  assert.deepEqual(target("src/a.py:12"), { type: "file", path: "src/a.py", line: 12 });
  assert.deepEqual(target("/w/a.py#L3-L9"), { type: "file", path: "/w/a.py", line: 3 });
  assert.deepEqual(target("file:///w/a%20b.py"), { type: "file", path: "/w/a b.py" });
  assert.deepEqual(target("C:\\w\\a.py"), { type: "file", path: "C:\\w\\a.py" });
  const refused = [
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    "command:x",
    "vscode://a/b",
    "data:text/html,x",
    "//host/x",
    "file://host/x",
    "#a",
    "",
    "https://a:b@c.example",
    "\\\\host\\share",
    "java\nscript:x",
    "vbscript:x",
  ];
  for (const href of refused) assert.equal(target(href), undefined, href);
});

test("no text with a scheme that is not the web's ever becomes one of the web", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z][a-z0-9+.-]{0,8}:.{0,20}$/), (href) => {
      const found = target(href);
      if (found?.type === "web") assert.match(found.url, /^(https?|mailto):/);
    }),
  );
});

test("a link to a path leads to exactly that path", () => {
  const part = fc.constantFrom(
    "a",
    "B c",
    "%20",
    ":12",
    "#L3",
    "é",
    "日本",
    "?x=1",
    "..",
    "x.py",
    "[1]",
    "'",
    "&",
  );
  const path = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => `/${parts.join("/")}`);
  fc.assert(
    fc.property(path, fc.option(fc.nat(99_999)), (of, line) => {
      const expected =
        line === null ? { type: "file", path: of } : { type: "file", path: of, line };
      assert.deepEqual(target(fileHref(of, line)), expected);
    }),
  );
});

test("inline code is a file only when it looks like one", () => {
  assert.ok(fileInCode("src/app.ts:3"));
  for (const text of ["x = 1", "foo()", "npm run x", "self.x(y)", "--flag", "a"])
    assert.equal(fileInCode(text), undefined, text);
});

test("a notification cannot be given a link", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("[", "]", "(", ")", "x", "command:y", "\n", "\u001b[0m", "\u202e")),
      (parts) => assert.doesNotMatch(forNotification(parts.join("")), /\]\(/),
    ),
  );
});

test("titles are one line without control characters", () => {
  assert.equal(oneLine("a\n\tb \u001b[31mred\u001b[0m\u0007"), "a b red⟨U+0007⟩");
  assert.equal(oneLine("x".repeat(500), 10), "xxxxxxxxx…");
  assert.equal(visible("a\r\nb\u2066c"), "a\nb⟨U+2066⟩c");
});

test("the output of a command keeps its colours and nothing else", () => {
  const nodes = output(
    "\u001b[1;31mred\u001b[0m plain \u001b]0;title\u0007\u001b[2Jend\n10%\r50%\r100%\n",
  );
  assert.equal(nodes.map(textOf).join(""), "red plain end\n100%\n");
  assert.match(JSON.stringify(nodes[0]), /ansi-bold ansi-red/);
});

test("words before the cursor are completed where they can be", () => {
  assert.deepEqual(wordAt("/re", 3), { kind: "command", query: "re", start: 0 });
  assert.deepEqual(wordAt("look @src/a", 11), { kind: "mention", query: "src/a", start: 5 });
  assert.equal(wordAt("mail@host", 9), undefined);
  assert.equal(wordAt("say /re", 7), undefined);
  assert.deepEqual(
    commandChoices([{ name: "plan" }, { name: "explain" }, { name: "say" }], "pla").map(
      (c) => c.id,
    ),
    ["plan", "explain"],
  );
});

test("usage is told in a few words", () => {
  assert.equal(
    usageText({ contextUsed: 18_250, contextSize: 200_000, cost: 0.04, currency: "USD" }),
    "18k of 200k (9 %) · $0.040",
  );
  assert.deepEqual([short(999), short(1500), short(2_000_000)], ["999", "1.5k", "2M"]);
});
