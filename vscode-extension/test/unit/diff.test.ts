import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compare, diff } from "../../src/page/diff";

const lines = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 30 });

test("the lines of a comparison are the old text and the new text", () => {
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const found = compare(before, after);
      const without = (type: string) => found.filter((l) => l.type !== type).map((l) => l.text);
      assert.deepEqual(without("added"), before);
      assert.deepEqual(without("removed"), after);
    }),
  );
});

test("each line has its number in the text it is from", () => {
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      for (const line of compare(before, after)) {
        const text = line.type === "removed" ? before : after;
        assert.equal(text[line.number - 1], line.text);
      }
    }),
  );
});

test("a change in the middle of a long text is shown with three lines around it", () => {
  const text = Array.from({ length: 100 }, (_, i) => `line ${i + 1}`);
  const found = diff(text.join("\n"), text.with(49, "new").join("\n"));
  assert.deepEqual([found.added, found.removed, found.hunks.length], [1, 1, 1]);
  assert.equal(found.hunks[0]?.skipped, 46);
  assert.deepEqual(
    found.hunks[0].lines.map((line) => line.type),
    ["same", "same", "same", "removed", "added", "same", "same", "same"],
  );
});

test("texts with nothing in common are compared in bounded time", () => {
  const side = (name: string) => Array.from({ length: 20_000 }, (_, i) => `${name}${i}`).join("\n");
  const found = diff(side("a"), side("b"));
  assert.deepEqual([found.added, found.removed], [20_000, 20_000]);
});
