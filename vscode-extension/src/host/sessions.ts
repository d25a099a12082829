// All sessions as the server tells them: heads and open asks, and a stream of changes for the pages.
//
// Past sessions are among them; what is said to one takes it up again.
//
// Invariant: the pages of a session and the trees see the same messages in the same order. A snapshot
// goes to every page of its session, because the server counts on everybody having it.

import * as vscode from "vscode";
import {
  methods,
  type AskItem,
  type DidChangeParams,
  type SessionHead,
  type SnapshotResult,
} from "../protocol.gen";
import type { Server } from "./server";

/** How many entries a page gets first, and by how much more when a person scrolls back. */
const FIRST = 300;
const MORE = 10;
/** How many sessions are listed at once. */
const LISTED = 200;

export type Followed =
  | { readonly type: "snapshot"; readonly snapshot: SnapshotResult }
  | { readonly type: "batch"; readonly batch: DidChangeParams };

export class Sessions implements vscode.Disposable {
  private readonly heads = new Map<string, SessionHead>();
  private readonly asks = new Map<string, AskItem>();
  private readonly seqs = new Map<string, number>();
  private readonly windows = new Map<string, number>();
  private readonly reading = new Map<string, Promise<void>>();
  /** Where the list goes on, when there are more past sessions than were asked for. */
  private next = "";
  private listed = LISTED;
  private archived = false;
  /** Heads that are newer than the list that is being read. */
  private readonly touched = new Set<string>();
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly followed = new vscode.EventEmitter<Followed>();
  private readonly parts: vscode.Disposable[];

  readonly onChange = this.changed.event;
  readonly onFollow = this.followed.event;

  constructor(private readonly server: Server) {
    this.parts = [
      server.onNotification(methods.sessionDidChange, (batch) => this.take(batch)),
      server.onState(({ state }) => {
        if (state === "running") void this.refresh();
        else this.forget();
      }),
    ];
  }

  /** Those that are alive first, and among each other the newest. */
  get all(): readonly SessionHead[] {
    const rank = (head: SessionHead) => Number(head.place === "past");
    return [...this.heads.values()].sort((a, b) => rank(a) - rank(b) || b.created - a.created);
  }

  get hasMore(): boolean {
    return this.next !== "";
  }

  async more(): Promise<void> {
    this.listed += LISTED;
    await this.list();
  }

  async toggleArchived(): Promise<void> {
    this.archived = !this.archived;
    await this.list();
  }

  get openAsks(): readonly AskItem[] {
    return [...this.asks.values()].sort((a, b) => a.since - b.since);
  }

  head(id: string): SessionHead | undefined {
    return this.heads.get(id);
  }

  /** Tells every page of the session all there is. */
  async read(id: string): Promise<void> {
    let running = this.reading.get(id);
    if (!running) {
      running = this.snapshot(id).finally(() => this.reading.delete(id));
      this.reading.set(id, running);
    }
    return running;
  }

  async readOlder(id: string): Promise<void> {
    this.windows.set(id, (this.windows.get(id) ?? FIRST) * MORE);
    await this.read(id);
  }

  /** Reads so far back that the pages have the entry, if the session has it. */
  async readTo(id: string, entryId: string): Promise<void> {
    const { total, entries } = await this.server.request(methods.sessionSnapshot, {
      sessionId: id,
      before: entryId,
    });
    const wanted = total - entries.length + 20;
    this.windows.set(id, Math.max(wanted, this.windows.get(id) ?? FIRST));
    await this.read(id);
  }

  /** A head that came as the answer to a request. */
  put(head: SessionHead): void {
    this.heads.set(head.id, head);
    this.touched.add(head.id);
    this.changed.fire();
  }

  dispose(): void {
    for (const part of [...this.parts, this.changed, this.followed]) part.dispose();
  }

  private async snapshot(id: string): Promise<void> {
    const last = this.windows.get(id) ?? FIRST;
    const snapshot = await this.server.request(methods.sessionSnapshot, { sessionId: id, last });
    // Without another await: the next batch must not overtake it.
    this.seqs.set(id, snapshot.seq);
    this.heads.set(id, snapshot.session);
    this.touched.add(id);
    this.followed.fire({ type: "snapshot", snapshot });
    this.changed.fire();
  }

  private async refresh(): Promise<void> {
    this.forget();
    await this.readAsks();
    await this.list();
  }

  /** Asks again which sessions there are, for what no batch tells: past ones only of this folder. */
  async list(): Promise<void> {
    this.touched.clear();
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
    const archived = this.archived ? { archived: null } : {};
    const live = await this.server.request(methods.sessionList, { places: ["here", "elsewhere"] });
    const found = [...live.sessions];
    let after = "";
    do {
      const page = await this.server.request(methods.sessionList, {
        ...archived,
        places: ["past"],
        cwd: folder,
        limit: LISTED,
        after,
      });
      found.push(...page.sessions);
      after = page.next ?? "";
    } while (after !== "" && found.length < this.listed);
    this.next = after;
    const listed = new Map(found.map((head) => [head.id, head]));
    for (const id of [...this.heads.keys()])
      if (!listed.has(id) && !this.touched.has(id)) this.heads.delete(id);
    for (const [id, head] of listed) if (!this.touched.has(id)) this.heads.set(id, head);
    this.changed.fire();
  }

  private async readAsks(): Promise<void> {
    const { asks } = await this.server.request(methods.askList, {});
    this.asks.clear();
    for (const ask of asks) this.asks.set(ask.askId, ask);
  }

  private forget(): void {
    for (const map of [this.heads, this.asks, this.seqs, this.windows]) map.clear();
    this.changed.fire();
  }

  private take(batch: DidChangeParams): void {
    const seq = this.seqs.get(batch.sessionId) ?? 0;
    const known = this.seqs.has(batch.sessionId) || batch.seq === 1;
    if (batch.seq <= seq) return;
    if (known && batch.seq !== seq + 1) {
      void this.read(batch.sessionId).then(() => this.readAsks());
      return;
    }
    this.seqs.set(batch.sessionId, batch.seq);
    if (this.note(batch)) this.changed.fire();
    this.followed.fire({ type: "batch", batch });
  }

  /** What is left of a session is in the store, if anything was said. */
  private closed(id: string): void {
    this.heads.delete(id);
    this.touched.delete(id);
    // The server may end with its last session: then there is nothing to list.
    this.list().catch(() => undefined);
  }

  /** Keeps heads and asks; whether any of them changed. */
  private note(batch: DidChangeParams): boolean {
    let changed = false;
    for (const change of batch.changes) {
      if (change.type === "session") {
        this.heads.set(batch.sessionId, change.session);
        this.touched.add(batch.sessionId);
        if (change.session.state === "closed") this.closed(batch.sessionId);
        changed = true;
      } else if (change.type === "entry" && change.entry.kind === "ask") {
        const { kind, id, at, turn, decision, ...ask } = change.entry;
        const agent = this.heads.get(batch.sessionId)?.agent ?? "";
        if (decision) this.asks.delete(ask.askId);
        else this.asks.set(ask.askId, { ...ask, sessionId: batch.sessionId, agent, since: at });
        changed = true;
      }
    }
    return changed;
  }
}
