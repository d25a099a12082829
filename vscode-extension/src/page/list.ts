// A list of which only the rows that are seen are in the page.
//
// Invariants: what a person looks at does not move when rows above it change or get their real
// height; at the end of the list it stays at the end. The work of a frame depends on what is seen,
// not on how long the list is.

import { Heights } from "./heights";
import { h, toDom, type Node } from "./node";

export interface Row {
  /** Stays the same when rows are put before it. */
  readonly key: string;
  /** A row is drawn again when one of these is another value. */
  readonly stamp: readonly unknown[];
  readonly draw: () => Node;
}

export interface Rows {
  readonly length: number;
  row(index: number): Row;
  /** About how high a row will be on so many pixels; the better, the steadier the scroll bar. */
  estimate(index: number, width: number): number;
}

interface Drawn {
  readonly stamp: readonly unknown[];
  readonly element: HTMLElement;
}

/** How far beyond the edges rows are drawn, so that scrolling does not show gaps. */
const BEYOND = 400;
/** Near enough to the end to stay there. */
const NEAR = 24;
const MOST_PASSES = 4;

export class List {
  private readonly heights = new Heights();
  private readonly content = document.createElement("div");
  private readonly window = document.createElement("div");
  private drawn = new Map<string, Drawn>();
  private readonly resized: ResizeObserver;
  private readonly ending = new AbortController();
  private frame = 0;
  private top = 0;
  private atEnd = true;

  constructor(
    private readonly scroller: HTMLElement,
    private rows: Rows,
    private readonly onScroll: (atEnd: boolean, nearStart: boolean) => void,
  ) {
    this.content.className = "list-content";
    this.window.className = "list-window";
    this.content.append(this.window);
    scroller.replaceChildren(this.content);
    const { signal } = this.ending;
    scroller.addEventListener("scroll", () => this.scrolled(), { passive: true, signal });
    scroller.addEventListener("keydown", (event) => this.key(event), { signal });
    this.resized = new ResizeObserver(() => this.schedule());
    this.resized.observe(scroller);
    this.splice(0, 0, rows.length);
  }

  /** Rows were removed and inserted; the new ones get a height when they are seen. */
  splice(at: number, remove: number, insert: number): void {
    const anchor = this.heights.indexAt(this.top);
    const within = this.top - this.heights.offset(anchor);
    const width = this.scroller.clientWidth;
    this.heights.splice(
      at,
      remove,
      Array.from({ length: insert }, (_, i) => this.rows.estimate(at + i, width)),
    );
    if (!this.atEnd && at <= anchor) {
      this.scrollTo(this.heights.offset(Math.max(0, anchor + insert - remove)) + within);
    }
    this.schedule();
  }

  /** Another list takes its place. */
  dispose(): void {
    this.ending.abort();
    this.resized.disconnect();
    cancelAnimationFrame(this.frame);
  }

  /** The same rows and `more` new ones before them. */
  replace(rows: Rows, more: number): void {
    this.rows = rows;
    if (more >= 0) this.splice(0, 0, more);
    else this.splice(0, -more, 0);
  }

  /** Draws in the next frame, however often it is called before. */
  schedule(): void {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  toEnd(): void {
    this.atEnd = true;
    this.schedule();
  }

  reveal(index: number): void {
    this.atEnd = false;
    const top = this.heights.offset(index) - this.scroller.clientHeight / 3;
    this.scrollTo(Math.max(0, top));
    this.draw();
    // Its real place is known now that the rows around it have their real heights.
    this.scrollTo(Math.max(0, this.heights.offset(index) - this.scroller.clientHeight / 3));
    this.draw();
  }

  element(key: string): HTMLElement | undefined {
    return this.drawn.get(key)?.element;
  }

  isSeen(index: number): boolean {
    const top = this.heights.offset(index);
    return top + this.heights.at(index) > this.top && top < this.top + this.scroller.clientHeight;
  }

  /** The browser would scroll there slowly, and lose its way while rows get their real heights. */
  private key(event: KeyboardEvent): void {
    if (event.target !== this.scroller) return;
    if (event.key === "Home") this.reveal(0);
    else if (event.key === "End") this.toEnd();
    else return;
    event.preventDefault();
  }

  private scrolled(): void {
    const top = this.scroller.scrollTop;
    if (top === this.top) return;
    const end = this.scroller.scrollHeight - this.scroller.clientHeight;
    this.atEnd = top >= end - NEAR;
    this.top = top;
    this.schedule();
  }

  private scrollTo(top: number): void {
    this.scroller.scrollTop = top;
    // What it really became: it may have been out of range or rounded.
    this.top = this.scroller.scrollTop;
  }

  private draw(): void {
    const height = this.scroller.clientHeight;
    if (height === 0) return;
    for (let pass = 0; pass < MOST_PASSES; pass++) {
      if (this.atEnd) this.top = Math.max(0, this.heights.total - height);
      const first = this.heights.indexAt(this.top - BEYOND);
      const last = Math.min(this.rows.length, this.heights.indexAt(this.top + height + BEYOND) + 1);
      this.place(first, last);
      if (!this.measure(first, last)) break;
    }
    this.onScroll(this.atEnd, this.heights.indexAt(this.top) < 20);
  }

  /** Puts exactly these rows into the page, reusing what is there. */
  private place(first: number, last: number): void {
    const kept = new Map<string, Drawn>();
    let next = this.window.firstChild;
    for (let index = first; index < last; index++) {
      const row = this.rows.row(index);
      const before = this.drawn.get(row.key);
      const drawn = before && same(before.stamp, row.stamp) ? before : this.fresh(row, before);
      kept.set(row.key, drawn);
      // What was drawn anew takes the place of the old one, and nothing else moves.
      if (before && before !== drawn && before.element === next) next = next.nextSibling;
      if (drawn.element === next) next = next.nextSibling;
      else this.window.insertBefore(drawn.element, next);
    }
    for (const [key, { element }] of this.drawn) {
      if (kept.get(key)?.element === element) continue;
      this.resized.unobserve(element);
      element.remove();
    }
    this.drawn = kept;
    this.window.style.transform = `translateY(${this.heights.offset(first)}px)`;
  }

  private fresh(row: Row, before: Drawn | undefined): Drawn {
    const element = toDom(drawn(row)) as HTMLElement;
    element.dataset["key"] = row.key;
    if (before) keepFocus(before.element, element);
    this.resized.observe(element);
    return { stamp: row.stamp, element };
  }

  /** Reads the real heights; whether another pass is needed. */
  private measure(first: number, last: number): boolean {
    const anchor = this.heights.indexAt(this.top);
    const within = this.top - this.heights.offset(anchor);
    let changed = false;
    let index = first;
    for (const element of this.window.children) {
      if (index >= last) break;
      const height = element.getBoundingClientRect().height;
      if (Math.abs(height - this.heights.at(index)) > 0.5) {
        this.heights.set(index, height);
        changed = true;
      }
      index++;
    }
    this.content.style.height = `${this.heights.total}px`;
    this.window.style.transform = `translateY(${this.heights.offset(first)}px)`;
    const end = Math.max(0, this.heights.total - this.scroller.clientHeight);
    const top = this.atEnd ? end : Math.min(end, this.heights.offset(anchor) + within);
    if (Math.abs(top - this.scroller.scrollTop) > 0.5) this.scrollTo(top);
    else this.top = this.scroller.scrollTop;
    return changed;
  }
}

/** One entry that cannot be shown must not take the others with it. */
function drawn(row: Row): Node {
  try {
    return row.draw();
  } catch (error) {
    return h("div.row.muted", {}, `This cannot be shown (${String(error)}).`);
  }
}

function same(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}

/** A button that is drawn again while it has the focus keeps it. */
function keepFocus(before: HTMLElement, after: HTMLElement): void {
  const focused = document.activeElement;
  if (!(focused instanceof HTMLElement) || !before.contains(focused)) return;
  const action = focused.dataset["do"];
  if (action === undefined) return;
  queueMicrotask(() => after.querySelector<HTMLElement>(`[data-do="${action}"]`)?.focus());
}
