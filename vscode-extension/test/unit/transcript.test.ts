import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Change, Entry, SessionHead } from "../../src/protocol.gen";
import { Transcript } from "../../src/common/transcript";

const head: SessionHead = {
  id: "s",
  agent: "a",
  title: "",
  cwd: "/w",
  state: "idle",
  created: 0,
  lastSign: 0,
};

function message(number: number, text = ""): Entry {
  return { kind: "message", id: `e${number}`, at: number, turn: 1, role: "agent", text };
}

function started(count: number, total = count): Transcript {
  const entries = Array.from({ length: count }, (_, i) => message(total - count + i + 1));
  return new Transcript({ seq: 0, session: head, entries, total });
}

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({
    type: fc.constant("text" as const),
    entryId: fc.integer({ min: 1, max: 9 }).map((n) => `e${n}`),
    text: fc.string(),
  }),
  fc
    .integer({ min: 1, max: 9 })
    .chain((n) => fc.string().map((text) => ({ type: "entry" as const, entry: message(n, text) }))),
);

test("batches applied one by one or from a snapshot in between give the same", () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 8 }),
      fc.nat(8),
      (batches, at) => {
        const whole = started(0);
        let other = started(0);
        batches.forEach((changes, i) => {
          const batch = { sessionId: "s", seq: i + 1, changes };
          whole.apply(batch);
          other.apply(batch);
          if (i === at)
            other = new Transcript({
              seq: i + 1,
              session: head,
              entries: [...whole.entries],
              total: whole.entries.length,
            });
        });
        assert.deepEqual(other.entries, whole.entries);
      },
    ),
  );
});

test("a batch that is known changes nothing, and a missing one is a gap", () => {
  const transcript = started(1);
  const batch = {
    sessionId: "s",
    seq: 1,
    changes: [{ type: "text", entryId: "e1", text: "x" }] as const,
  };
  assert.deepEqual(transcript.apply(batch), [{ type: "grew", index: 0, text: "x" }]);
  assert.deepEqual(transcript.apply(batch), []);
  assert.equal(transcript.apply({ ...batch, seq: 3 }), "gap");
  assert.equal(transcript.seq, 1);
});

test("what is about an entry before those that are here is left out", () => {
  const transcript = started(2, 5);
  assert.equal(transcript.older, 3);
  assert.deepEqual(
    transcript.apply({ sessionId: "s", seq: 1, changes: [{ type: "entry", entry: message(2) }] }),
    [],
  );
  assert.equal(transcript.entries.length, 2);
});
