import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Heights } from "../../src/page/heights";

const values = fc.array(fc.integer({ min: 1, max: 500 }), { maxLength: 60 });

function made(of: readonly number[]): Heights {
  const heights = new Heights();
  heights.splice(0, 0, of);
  return heights;
}

function sum(of: readonly number[]): number {
  return of.reduce((a, b) => a + b, 0);
}

test("an offset is the sum of the heights before it", () => {
  fc.assert(
    fc.property(values, (of) => {
      const heights = made(of);
      for (let i = 0; i <= of.length; i++) assert.equal(heights.offset(i), sum(of.slice(0, i)));
    }),
  );
});

test("after any splices and changes the offsets are still sums", () => {
  const edit = fc.record({
    at: fc.nat(),
    remove: fc.nat(5),
    insert: values,
    set: fc.nat(),
    to: fc.nat(99),
  });
  fc.assert(
    fc.property(values, fc.array(edit, { maxLength: 8 }), (of, edits) => {
      const plain = [...of];
      const heights = made(of);
      for (const { at, remove, insert, set, to } of edits) {
        const place = at % (plain.length + 1);
        plain.splice(place, remove, ...insert);
        heights.splice(place, remove, insert);
        if (plain.length === 0) continue;
        plain[set % plain.length] = to;
        heights.set(set % plain.length, to);
      }
      assert.equal(heights.length, plain.length);
      for (let i = 0; i <= plain.length; i++)
        assert.equal(heights.offset(i), sum(plain.slice(0, i)));
    }),
  );
});

test("the row at a height is the one that covers it", () => {
  fc.assert(
    fc.property(
      values.filter((of) => of.length > 0),
      fc.nat(30_000),
      (of, y) => {
        const heights = made(of);
        const index = heights.indexAt(y);
        if (y >= heights.total) assert.equal(index, of.length - 1);
        else assert.ok(heights.offset(index) <= y && y < heights.offset(index + 1));
      },
    ),
  );
});
