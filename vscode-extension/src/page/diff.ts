// What changed between two texts, line by line.
//
// Invariant: the lines that are not added are the old text, those that are not removed the new one.

export interface Line {
  readonly type: "same" | "added" | "removed";
  readonly text: string;
  /** Counting from 1; of removed lines in the old text, of others in the new. */
  readonly number: number;
}

export interface Hunk {
  readonly lines: readonly Line[];
  /** Lines left out before it. */
  readonly skipped: number;
}

export interface Diff {
  readonly hunks: readonly Hunk[];
  readonly added: number;
  readonly removed: number;
}

const CONTEXT = 3;
/** Past so many steps the rest counts as replaced: a diff is for reading. */
const MOST_STEPS = 400;

export function diff(oldText: string, newText: string): Diff {
  const lines = compare(split(oldText), split(newText));
  const count = (type: Line["type"]) => lines.filter((line) => line.type === type).length;
  return { hunks: hunks(lines), added: count("added"), removed: count("removed") };
}

export function split(text: string): readonly string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

export function compare(before: readonly string[], after: readonly string[]): readonly Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  const same = (from: number, to: number): Line[] =>
    after.slice(from, to).map((text, i) => ({ type: "same", text, number: from + i + 1 }));
  return [
    ...same(0, start),
    ...middle(
      before.slice(start, before.length - end),
      after.slice(start, after.length - end),
      start,
    ),
    ...same(after.length - end, after.length),
  ];
}

/** Myers' algorithm, forward, with the frontier of every step kept to find the way back. */
function middle(a: readonly string[], b: readonly string[], shift: number): readonly Line[] {
  const frontiers: Map<number, number>[] = [];
  let frontier = new Map<number, number>([[1, 0]]);
  for (let d = 0; d <= Math.min(a.length + b.length, MOST_STEPS); d++) {
    frontiers.push(frontier);
    const next = new Map<number, number>();
    for (let k = -d; k <= d; k += 2) {
      let x = isDown(frontier, k, d) ? at(frontier, k + 1) : at(frontier, k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      next.set(k, x);
      if (x >= a.length && x - k >= b.length) return back(a, b, shift, frontiers, d);
    }
    frontier = next;
  }
  return [
    ...a.map((text, i): Line => ({ type: "removed", text, number: shift + i + 1 })),
    ...b.map((text, i): Line => ({ type: "added", text, number: shift + i + 1 })),
  ];
}

function isDown(frontier: Map<number, number>, k: number, d: number): boolean {
  return k === -d || (k !== d && at(frontier, k - 1) < at(frontier, k + 1));
}

function at(frontier: Map<number, number>, k: number): number {
  return frontier.get(k) ?? 0;
}

function back(
  a: readonly string[],
  b: readonly string[],
  shift: number,
  frontiers: readonly Map<number, number>[],
  steps: number,
): readonly Line[] {
  const lines: Line[] = [];
  let x = a.length;
  let y = b.length;
  for (let d = steps; d >= 0; d--) {
    const frontier = frontiers[d] ?? new Map<number, number>();
    const k = x - y;
    const down = isDown(frontier, k, d);
    const fromX = at(frontier, down ? k + 1 : k - 1);
    for (const start = down ? fromX : fromX + 1; x > start; x--, y--) {
      lines.push({ type: "same", text: b[y - 1] ?? "", number: shift + y });
    }
    if (d === 0) break;
    if (down) lines.push({ type: "added", text: b[y - 1] ?? "", number: shift + y });
    else lines.push({ type: "removed", text: a[x - 1] ?? "", number: shift + x });
    x = fromX;
    y = fromX - (down ? k + 1 : k - 1);
  }
  return lines.reverse();
}

function hunks(lines: readonly Line[]): readonly Hunk[] {
  const near = new Set<number>();
  lines.forEach((line, index) => {
    if (line.type === "same") return;
    for (let i = index - CONTEXT; i <= index + CONTEXT; i++) near.add(i);
  });
  const found: { lines: Line[]; skipped: number }[] = [];
  let skipped = 0;
  lines.forEach((line, index) => {
    if (!near.has(index)) {
      skipped++;
      return;
    }
    if (skipped > 0 || found.length === 0) found.push({ lines: [], skipped });
    found.at(-1)?.lines.push(line);
    skipped = 0;
  });
  return found;
}
