// A session as the server tells it: numbered batches of changes on top of a snapshot.
//
// Invariant: after any sequence of messages the entries are those of the last snapshot with all
// later batches applied in order, or `gap` says that a new snapshot is needed.

import type { Change, DidChangeParams, Entry, SessionHead } from "../protocol.gen";

/** What a message did to the transcript. */
export type Effect =
  | { readonly type: "head" }
  | { readonly type: "added"; readonly index: number }
  | { readonly type: "replaced"; readonly index: number }
  | { readonly type: "grew"; readonly index: number; readonly text: string };

/** The part of a snapshot that a page needs first. */
export interface Start {
  readonly seq: number;
  readonly session: SessionHead;
  readonly entries: readonly Entry[];
  readonly total: number;
}

export class Transcript {
  head: SessionHead;
  seq: number;
  /** How many entries of the session are older than those here. */
  readonly older: number;
  private readonly list: Entry[];
  private readonly places = new Map<string, number>();

  constructor(start: Start) {
    this.head = start.session;
    this.seq = start.seq;
    this.older = Math.max(0, start.total - start.entries.length);
    this.list = [...start.entries];
    this.list.forEach((entry, index) => this.places.set(entry.id, index));
  }

  get entries(): readonly Entry[] {
    return this.list;
  }

  find(id: string): number | undefined {
    return this.places.get(id);
  }

  /** What changed, or "gap" when a batch is missing. A batch that is known already changes nothing. */
  apply(batch: DidChangeParams): readonly Effect[] | "gap" {
    if (batch.seq <= this.seq) return [];
    if (batch.seq !== this.seq + 1) return "gap";
    this.seq = batch.seq;
    return batch.changes.flatMap((change) => this.change(change) ?? []);
  }

  private change(change: Change): Effect | undefined {
    switch (change.type) {
      case "session":
        this.head = change.session;
        return { type: "head" };
      case "text":
        return this.grow(change.entryId, change.text);
      case "entry":
        return this.put(change.entry);
    }
  }

  private grow(id: string, text: string): Effect | undefined {
    const index = this.find(id);
    const entry = index === undefined ? undefined : this.list[index];
    if (index === undefined || entry?.kind !== "message") return undefined;
    this.list[index] = { ...entry, text: entry.text + text };
    return { type: "grew", index, text };
  }

  private put(entry: Entry): Effect | undefined {
    const index = this.find(entry.id);
    if (index !== undefined) {
      this.list[index] = entry;
      return { type: "replaced", index };
    }
    const first = this.list[0];
    // Of a part of the session that is not here.
    if (this.older > 0 && first !== undefined && entry.at < first.at) return undefined;
    this.list.push(entry);
    this.places.set(entry.id, this.list.length - 1);
    return { type: "added", index: this.list.length - 1 };
  }
}
