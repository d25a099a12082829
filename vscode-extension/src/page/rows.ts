// A transcript as the rows of a list: one for most entries, one for each block of a message.

import type { Entry, MessageEntry } from "../protocol.gen";
import type { Effect, Transcript } from "../common/transcript";
import { drawEntry, drawMessageBlock, drawThoughtHead, type Drawing } from "./entries";
import { Heights } from "./heights";
import type { Row, Rows } from "./list";
import { Blocks } from "./markdown/blocks";

/** What the list has to know about a change. */
export interface Splice {
  readonly at: number;
  readonly remove: number;
  readonly insert: number;
}

export class TranscriptRows implements Rows {
  /** How many rows each entry has. */
  private readonly counts = new Heights();
  private readonly blocks = new Map<string, Blocks>();

  constructor(
    private readonly transcript: Transcript,
    private readonly drawing: Drawing,
    before?: TranscriptRows,
  ) {
    for (const entry of transcript.entries) {
      if (entry.kind === "message") this.takeBlocks(entry, before);
    }
    this.counts.splice(
      0,
      0,
      transcript.entries.map((entry) => this.count(entry)),
    );
  }

  get length(): number {
    return this.counts.total;
  }

  row(index: number): Row {
    const place = this.counts.indexAt(index);
    const entry = this.transcript.entries[place];
    if (!entry) return { key: `none:${index}`, stamp: [], draw: () => "" };
    const part = index - this.counts.offset(place);
    return entry.kind === "message" ? this.messageRow(entry, part, place) : this.entryRow(entry);
  }

  estimate(index: number, width: number): number {
    const place = this.counts.indexAt(index);
    const entry = this.transcript.entries[place];
    if (entry?.kind !== "message") return entry?.kind === "tool_call" ? 36 : 28;
    const block = this.blocks.get(entry.id)?.at(index - this.counts.offset(place));
    const letters = Math.max(20, (width - 32) / 7);
    return 26 + 20 * Math.min(300, (block?.source.length ?? 0) / letters);
  }

  /** The first row of an entry. */
  rowOf(entryId: string): number | undefined {
    const place = this.transcript.find(entryId);
    return place === undefined ? undefined : this.counts.offset(place);
  }

  /** Follows a change of the transcript. */
  follow(effect: Effect): Splice | undefined {
    if (effect.type === "head") return undefined;
    const entry = this.transcript.entries[effect.index];
    if (!entry) return undefined;
    if (entry.kind === "message") {
      if (effect.type === "grew") this.blocks.get(entry.id)?.append(effect.text);
      else this.blocks.set(entry.id, new Blocks(entry.text));
    }
    if (effect.type === "added") this.counts.push(0);
    return this.recount(effect.index, entry);
  }

  /** An entry was opened or closed by a person. */
  toggled(entryId: string): Splice | undefined {
    const place = this.transcript.find(entryId);
    const entry = place === undefined ? undefined : this.transcript.entries[place];
    return place === undefined || !entry ? undefined : this.recount(place, entry);
  }

  private recount(place: number, entry: Entry): Splice {
    const before = this.counts.at(place);
    const after = this.count(entry);
    this.counts.set(place, after);
    const at = this.counts.offset(place);
    if (after >= before) return { at: at + before, remove: 0, insert: after - before };
    return { at: at + after, remove: before - after, insert: 0 };
  }

  private takeBlocks(entry: MessageEntry, before: TranscriptRows | undefined): void {
    const old = before?.blocks.get(entry.id);
    this.blocks.set(entry.id, old?.size === entry.text.length ? old : new Blocks(entry.text));
  }

  private count(entry: Entry): number {
    if (entry.kind !== "message" || entry.role === "user") return 1;
    const blocks = this.blocks.get(entry.id)?.length ?? 0;
    if (entry.role !== "thought") return blocks;
    return this.drawing.isOpen(entry.id) ? 1 + blocks : 1;
  }

  private entryRow(entry: Entry): Row {
    const open = this.drawing.isOpen(entry.id);
    const note = this.drawing.note(entry.id);
    return {
      key: entry.id,
      stamp: [entry, open, note],
      draw: () => drawEntry(entry, this.drawing),
    };
  }

  private messageRow(entry: MessageEntry, part: number, place: number): Row {
    const open = this.drawing.isOpen(entry.id);
    if (entry.role === "user") {
      return { key: entry.id, stamp: [entry, open], draw: () => drawEntry(entry, this.drawing) };
    }
    const thought = entry.role === "thought";
    const thinking =
      thought &&
      place === this.transcript.entries.length - 1 &&
      this.transcript.head.turnRunning === true;
    if (thought && part === 0) {
      return {
        key: entry.id,
        stamp: [open, thinking],
        draw: () => drawThoughtHead(entry, open, thinking),
      };
    }
    const index = thought ? part - 1 : part;
    const block = this.blocks.get(entry.id)?.at(index);
    return {
      key: `${entry.id}:${index}`,
      stamp: [block?.source.length, thought],
      draw: () => drawMessageBlock(block ?? { source: "" }, thought),
    };
  }
}
