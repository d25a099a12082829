// What agents changed and nobody has decided: marked in the text, and with a badge in the explorer.

import * as vscode from "vscode";
import { pendingHunks, type Changes } from "./changes";

const ADDED = vscode.window.createTextEditorDecorationType({
  isWholeLine: true,
  backgroundColor: new vscode.ThemeColor("diffEditor.insertedLineBackground"),
  overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.addedForeground"),
  overviewRulerLane: vscode.OverviewRulerLane.Left,
});
/** Lines that are gone leave no line to mark: a stroke where they were. */
const REMOVED = vscode.window.createTextEditorDecorationType({
  isWholeLine: true,
  borderStyle: "solid",
  borderWidth: "2px 0 0 0",
  borderColor: new vscode.ThemeColor("editorGutter.deletedBackground"),
  overviewRulerColor: new vscode.ThemeColor("editorOverviewRuler.deletedForeground"),
  overviewRulerLane: vscode.OverviewRulerLane.Left,
});

export function marks(changes: Changes): vscode.Disposable {
  const draw = () => {
    for (const editor of vscode.window.visibleTextEditors) mark(editor, changes);
  };
  return vscode.Disposable.from(
    changes.onChange(draw),
    vscode.window.onDidChangeVisibleTextEditors(draw),
    vscode.window.registerFileDecorationProvider(new Badges(changes)),
  );
}

function mark(editor: vscode.TextEditor, changes: Changes): void {
  const { uri } = editor.document;
  if (uri.scheme !== "file") return;
  const inDiff = vscode.window.tabGroups.all.some((group) => {
    const input = group.activeTab?.input;
    return (
      group.viewColumn === editor.viewColumn &&
      input instanceof vscode.TabInputTextDiff &&
      input.modified.toString() === uri.toString()
    );
  });
  // The diff editor marks them itself.
  const hunks = inDiff ? [] : changes.ofFile(uri.fsPath).flatMap(pendingHunks);
  const lines = (start: number, end: number) => new vscode.Range(start, 0, end, 0);
  editor.setDecorations(
    ADDED,
    hunks.filter(({ start, end }) => end > start).map(({ start, end }) => lines(start, end - 1)),
  );
  editor.setDecorations(
    REMOVED,
    hunks.filter(({ start, end }) => end <= start).map(({ start }) => lines(start, start)),
  );
}

class Badges implements vscode.FileDecorationProvider {
  private readonly changed = new vscode.EventEmitter<vscode.Uri[]>();
  readonly onDidChangeFileDecorations = this.changed.event;
  private shown = new Set<string>();

  constructor(private readonly changes: Changes) {
    changes.onChange(() => {
      const now = new Set(changes.pending.map((change) => change.path));
      const other = [...new Set([...now, ...this.shown])].filter(
        (path) => now.has(path) !== this.shown.has(path),
      );
      this.shown = now;
      if (other.length > 0) this.changed.fire(other.map((path) => vscode.Uri.file(path)));
    });
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    if (uri.scheme !== "file") return undefined;
    const agents = new Set(this.changes.ofFile(uri.fsPath).map((change) => change.agent));
    if (agents.size === 0) return undefined;
    return {
      badge: "✦",
      tooltip: `Changed by ${[...agents].join(", ")}, not reviewed`,
      color: new vscode.ThemeColor("charts.purple"),
      propagate: true,
    };
  }
}
