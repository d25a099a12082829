// Cuts Markdown that streams in into blocks which can be shown one by one.
//
// Invariants: the sources of the blocks joined are the text; how the text was cut into pieces makes
// no difference; only the last block ever changes. So a stream costs what its newest block costs,
// and a list can leave out the blocks that are not seen. A block is never much longer than LONGEST:
// what is longer (a huge line, a long listing) goes on in the next one.

export const LONGEST = 6000;

export interface Block {
  readonly source: string;
  /** Of a fenced block: the words after the fence, and the lines inside. */
  readonly code?: { readonly info: string; readonly text: string; readonly goesOn: boolean };
}

interface Fence {
  readonly mark: string;
  readonly info: string;
  /** Inside a list the fence belongs to the list. */
  readonly inside: boolean;
}

const FENCE = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})\s*(.*)$/;
const INNER_FENCE = /^\s+(`{3,}(?=[^`]*$)|~{3,})/;
const ITEM = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;
const HEADING = /^ {0,3}#{1,6}(?:\s|$)/;

export class Blocks {
  private readonly done: Block[] = [];
  private source = "";
  /** Where the line that is not complete yet begins in `source`. */
  private lineStart = 0;
  private fence: Fence | undefined;
  private goesOn = false;
  private list = false;
  private blank = false;

  /** The length of the text. */
  size = 0;

  constructor(text = "") {
    this.append(text);
  }

  /** The number of blocks, the growing one included. */
  get length(): number {
    return this.done.length + (this.source === "" ? 0 : 1);
  }

  at(index: number): Block | undefined {
    return index < this.done.length ? this.done[index] : this.last();
  }

  append(text: string): void {
    this.size += text.length;
    let from = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
      this.add(text.slice(from, end + 1));
      this.line();
      from = end + 1;
    }
    this.add(text.slice(from));
  }

  /** Adds a part of one line, cutting where a line is too long for a block. */
  private add(part: string): void {
    this.source += part;
    while (this.source.length - this.lineStart > LONGEST + 1) {
      const limit = this.lineStart + LONGEST;
      const blank = this.source.lastIndexOf(" ", limit - 1);
      this.finish(blank > this.lineStart + LONGEST / 2 ? blank + 1 : limit);
      this.goesOn = this.fence !== undefined && !this.fence.inside;
    }
  }

  /** Looks at the line that was just completed. */
  private line(): void {
    const line = this.source.slice(this.lineStart, -1);
    if (this.fence) this.lineInFence(line, this.fence);
    else this.lineOfText(line);
    this.lineStart = this.source.length;
  }

  private lineInFence(line: string, fence: Fence): void {
    const closing = line.trim();
    if (
      closing.length >= fence.mark.length &&
      closing === fence.mark.charAt(0).repeat(closing.length)
    ) {
      this.fence = fence.inside ? undefined : this.fence;
      if (!fence.inside) {
        this.finish(this.source.length);
        this.fence = undefined;
        this.goesOn = false;
      }
    } else if (this.source.length > LONGEST) {
      this.finish(this.source.length);
      this.goesOn = !fence.inside;
    }
  }

  private lineOfText(line: string): void {
    if (line.trim() === "") {
      this.blankLine();
      return;
    }
    const fence = FENCE.exec(line);
    if (fence && !(this.list && fence[1] !== "")) {
      this.finish(this.lineStart);
      this.fence = { mark: fence[2] ?? "", info: (fence[3] ?? "").trim(), inside: false };
      return;
    }
    const item = ITEM.test(line);
    if (this.ends(line, item)) this.finish(this.lineStart);
    this.blank = false;
    if (item && this.isBlankBefore()) this.list = true;
    const inner = this.list ? INNER_FENCE.exec(line) : null;
    if (inner) this.fence = { mark: inner[1] ?? "", info: "", inside: true };
    if (HEADING.test(line) || this.source.length > LONGEST) this.finish(this.source.length);
  }

  private blankLine(): void {
    if (this.list) this.blank = true;
    else if (!this.isBlankBefore()) this.finish(this.source.length);
  }

  /** Whether the line is the first one of the block that says anything. */
  private isBlankBefore(): boolean {
    return this.source.slice(0, this.lineStart).trim() === "";
  }

  /** Whether the block before this line is over. */
  private ends(line: string, item: boolean): boolean {
    if (HEADING.test(line)) return true;
    // As in CommonMark: of numbers only 1 begins a list in the middle of a paragraph.
    if (!this.list) return item && !/^ {0,3}(?!1[.)])\d/.test(line);
    if (item) return this.source.length > LONGEST / 2;
    return this.blank && !/^(?: {2,}|\t)/.test(line);
  }

  private finish(end: number): void {
    if (end === 0) return;
    this.done.push(this.block(this.source.slice(0, end)));
    this.source = this.source.slice(end);
    this.lineStart = Math.max(0, this.lineStart - end);
    this.list = false;
    this.blank = false;
  }

  private last(): Block | undefined {
    return this.source === "" ? undefined : this.block(this.source);
  }

  private block(source: string): Block {
    if (!this.fence || this.fence.inside) return { source };
    const lines = source.split("\n");
    if (!this.goesOn) lines.shift();
    const closing = lines.at(-2)?.trim() ?? "";
    const mark = this.fence.mark;
    const closed =
      closing.length >= mark.length && closing === mark.charAt(0).repeat(closing.length);
    if (closed) lines.splice(-2);
    else if (lines.at(-1) === "") lines.pop();
    return { source, code: { info: this.fence.info, text: lines.join("\n"), goesOn: this.goesOn } };
  }
}
