// What agents changed, as the server tells it, and what a person decides about it.
//
// Invariant: here nothing is decided and no file is touched; the server does both, and refuses what
// would lose somebody's text.

import * as vscode from "vscode";
import {
  methods,
  type ChangeDecideParams,
  type ChangeItem,
  type ChangeRefusal,
  type HunkItem,
} from "../../protocol.gen";
import { forNotification } from "../../common/plainText";
import type { Server } from "../server";

export type Verdict = "keep" | "undo" | "redo" | "merge";
/** All that fits; nothing said is everything. */
export type Which = Omit<ChangeDecideParams, "verdict">;

export class Changes implements vscode.Disposable {
  private readonly items = new Map<string, ChangeItem>();
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly parts: vscode.Disposable[];
  readonly onChange = this.changed.event;

  constructor(private readonly server: Server) {
    this.parts = [
      server.onNotification(methods.changeDidChange, ({ items, gone }) => {
        const left = (gone ?? []).filter((id) => this.items.delete(id));
        if (this.put(items) || left.length > 0) this.changed.fire();
      }),
      server.onState(({ state }) => void this.refresh(state === "running")),
    ];
  }

  /** The oldest first. */
  get all(): readonly ChangeItem[] {
    return [...this.items.values()];
  }

  get pending(): readonly ChangeItem[] {
    return this.all.filter((change) => change.pending);
  }

  ofFile(path: string): readonly ChangeItem[] {
    return this.pending.filter((change) => change.path === path);
  }

  async decide(verdict: Verdict, which: Which): Promise<void> {
    const { changes, refused } = await this.server.request(methods.changeDecide, {
      verdict,
      ...which,
    });
    if (this.put(changes)) this.changed.fire();
    for (const refusal of refused ?? []) void this.tell(refusal);
  }

  dispose(): void {
    for (const part of [...this.parts, this.changed]) part.dispose();
  }

  /** What was refused is told, with the way out that there is. */
  private async tell({ changeId, hunkIds, why }: ChangeRefusal): Promise<void> {
    const change = this.items.get(changeId);
    const altered = change?.hunks?.some(
      (hunk) => hunk.altered === true && (hunkIds ?? []).includes(hunk.hunkId),
    );
    const merge = "Merge";
    const name = change ? `${vscode.workspace.asRelativePath(change.path)}: ` : "";
    const chosen = await vscode.window.showWarningMessage(
      forNotification(`${name}${why}`, 300),
      ...(altered === true ? [merge] : []),
    );
    if (chosen === merge) await this.decide("merge", { changeId, hunkIds: hunkIds ?? [] });
  }

  private async refresh(running: boolean): Promise<void> {
    this.items.clear();
    this.changed.fire();
    if (!running) return;
    const { changes } = await this.server.request(methods.changeList, {});
    if (this.put(changes)) this.changed.fire();
  }

  /**
   * Whether anything is new. What a decision answers is told again a moment later: a tree that is
   * drawn again for nothing takes the button away under the mouse.
   */
  private put(items: readonly ChangeItem[]): boolean {
    const fresh = items.filter(
      (item) => JSON.stringify(this.items.get(item.changeId)) !== JSON.stringify(item),
    );
    for (const item of fresh) this.items.set(item.changeId, item);
    return fresh.length > 0;
  }
}

export function pendingHunks(change: ChangeItem): readonly HunkItem[] {
  return (change.hunks ?? []).filter((hunk) => hunk.state === "pending");
}

/** Lines added and removed, e.g. "+3 −1". */
export function size(changes: readonly ChangeItem[]): string {
  const hunks = changes.flatMap((change) => change.hunks ?? []);
  const sum = (of: (hunk: HunkItem) => number) => hunks.reduce((all, hunk) => all + of(hunk), 0);
  return `+${sum((hunk) => hunk.added ?? 0)} −${sum((hunk) => hunk.removed ?? 0)}`;
}
