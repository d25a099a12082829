// Shows the files an agent touches, as it touches them, for people who want to watch.

import * as vscode from "vscode";
import { reveal } from "./chat/open";
import type { Sessions } from "./sessions";

export function followFiles(sessions: Sessions): vscode.Disposable {
  let last = "";
  return sessions.onFollow((followed) => {
    if (
      followed.type !== "batch" ||
      !vscode.workspace.getConfiguration("agentls").get<boolean>("followFiles", false)
    )
      return;
    for (const change of followed.batch.changes) {
      if (change.type !== "entry" || change.entry.kind !== "tool_call") continue;
      const place = change.entry.locations?.[0];
      if (!place || !["in_progress", "completed"].includes(change.entry.status)) continue;
      const key = `${place.path}:${place.line ?? ""}`;
      if (key === last) continue;
      last = key;
      // A file that is gone again is nothing to tell anybody about.
      reveal(vscode.Uri.file(place.path), place.line ?? undefined, true).then(
        undefined,
        () => undefined,
      );
    }
  });
}
