import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { FrameLocator, Locator } from "playwright-core";
import { story, type Editor } from "./harness";

const POEM = Array.from({ length: 20 }, (_, i) => `line ${i + 1}\n`).join("");
const BOTH = POEM.replace("line 2\n", "LINE 2\n").replace("line 18\n", "LINE 18\n");
const options = {
  settings: { "agentls.agent": "demo" },
  files: { "poem.txt": POEM, "other.txt": "one\n" },
};
const EDIT = "/run sed -i 's/^line 2$/LINE 2/; s/^line 18$/LINE 18/' poem.txt";

function poem(editor: Editor): string {
  return readFileSync(join(editor.workspace, "poem.txt"), "utf8");
}

async function changed(editor: Editor, prompt = EDIT): Promise<FrameLocator> {
  const chat = await editor.chat();
  const ends = await chat.locator(".turn-end").count();
  await editor.say(chat, prompt);
  await chat.locator(".ask").getByRole("button", { name: "Allow", exact: true }).click();
  await chat.locator(".turn-end").nth(ends).waitFor();
  return chat;
}

/** A person waits until the file on disk is so. */
async function fileIs(editor: Editor, text: string): Promise<void> {
  for (let tries = 0; tries < 400 && poem(editor) !== text; tries++)
    await editor.page.waitForTimeout(50);
  assert.equal(poem(editor), text);
}

/**
 * VS Code draws lenses anew whenever they may have changed, and a click that begins on one and ends on its successor is
 * none: a person clicks again.
 */
async function clickUntil(lens: Locator, done: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 3 && !(await done()); tries++) {
    await lens.click({ timeout: 5_000 }).catch(() => undefined);
    for (let looks = 0; looks < 200 && !(await done()); looks++)
      await lens.page().waitForTimeout(100);
  }
  assert.ok(await done(), "what the lens says was done");
}

/** The same for an action at a row of a tree, which is drawn anew, too. */
async function actUntil(editor: Editor, at: RegExp, action: string, then: RegExp): Promise<void> {
  for (let tries = 0; tries < 3; tries++) {
    await editor.act(row(editor, at), action);
    const came = row(editor, then).first().waitFor({ timeout: 12_000 });
    if (
      await came.then(
        () => true,
        () => false,
      )
    )
      return;
  }
  assert.fail(`${action} was clicked three times, and no row is ${then.source}`);
}

const row = (editor: Editor, name: RegExp) => editor.page.getByRole("treeitem", { name });

test("hunks are kept and undone one by one at their lines, and the badge goes with the last", () =>
  story(options, async (editor) => {
    await editor.openFile("poem.txt");
    const chat = await changed(editor);
    await fileIs(editor, BOTH);
    await chat.locator(".changes-bar").filter({ hasText: "1 file, +2 −2" }).waitFor();
    const badge = editor.page.locator(
      '.explorer-folders-view [aria-label*="Changed by demo, not reviewed"]',
    );
    await badge.first().waitFor();
    const lens = (title: string) =>
      editor.page.locator(".codelens-decoration a").filter({ hasText: title });
    await lens("demo: Undo this change").first().waitFor();
    await editor.picture("review");
    const half = POEM.replace("line 18\n", "LINE 18\n");
    await clickUntil(lens("demo: Undo this change").first(), () => poem(editor) === half);
    await editor.command("Agents: Go to Next Change of an Agent");
    await clickUntil(
      lens("demo: Keep this change").last(),
      async () => (await badge.count()) === 0,
    );
    await chat.locator(".changes-bar").waitFor({ state: "detached" });
    await fileIs(editor, half);
  }));

test("the diff editor shows before and now, with keep and undo at each hunk", () =>
  story(options, async (editor) => {
    const chat = await changed(editor);
    await chat.locator(".changes-bar").getByRole("button", { name: "Review" }).click();
    const diff = editor.page.locator(".monaco-diff-editor");
    await diff.locator(".line-insert, .char-insert").first().waitFor();
    await editor.page.locator(".tab").filter({ hasText: "before turn 1 ↔ now" }).waitFor();
    const undo = diff.locator(".codelens-decoration a").filter({ hasText: "Undo this change" });
    await undo.first().waitFor();
    await editor.picture("diff");
    const half = POEM.replace("line 18\n", "LINE 18\n");
    await clickUntil(undo.first(), () => poem(editor) === half);
  }));

test("changes are a tree of sessions, turns, files and hunks; each level is kept or undone", () =>
  story(options, async (editor) => {
    await changed(editor);
    await changed(editor, "/run echo two >> other.txt; echo new > made.txt");
    await editor.command("Agents: Focus on Changes View");
    await row(editor, /made\.txt, created by demo/).waitFor();
    await editor.picture("changes");
    await actUntil(editor, /made\.txt, created/, "Undo", /made\.txt, created by demo, undone/);
    assert.throws(() => readFileSync(join(editor.workspace, "made.txt")), /ENOENT/);
    const undone = /made\.txt, created by demo, undone/;
    await actUntil(editor, undone, "Do It Again", /made\.txt, created by demo, \+1/);
    await actUntil(editor, /poem\.txt, modified/, "Keep", /poem\.txt, modified by demo, kept/);
    await editor.command("Agents: Undo All Changes…");
    await editor.page.getByRole("button", { name: "Undo in 2 files" }).click();
    await row(editor, /other\.txt, modified by demo, undone/).waitFor();
    assert.equal(readFileSync(join(editor.workspace, "other.txt"), "utf8"), "one\n");
    await fileIs(editor, BOTH);
  }));

test("going back to before a turn is shown first, done when a person says so, and can be undone", () =>
  story(options, async (editor) => {
    await changed(editor);
    await fileIs(editor, BOTH);
    await editor.quick.choose(/Go back to before which turn/, "/run sed", () =>
      editor.command("Agents: Go Back to Before a Turn"),
    );
    await editor.page.locator(".tab").filter({ hasText: "Before turn 1" }).waitFor();
    await editor.toast().filter({ hasText: "Go back to before turn 1" }).waitFor();
    await editor.picture("restore");
    await fileIs(editor, BOTH);
    await editor.toast().getByRole("button", { name: "Go Back" }).click();
    await fileIs(editor, POEM);
    await editor.toast().getByRole("button", { name: "Undo" }).click();
    await fileIs(editor, BOTH);
  }));

test("what a person wrote into a changed place is not undone: a merge is offered", () =>
  story(options, async (editor) => {
    await changed(editor);
    await fileIs(editor, BOTH);
    const mine = BOTH.replace("LINE 2\n", "LINE two of mine\n");
    writeFileSync(join(editor.workspace, "poem.txt"), mine);
    await editor.command("Agents: Focus on Changes View");
    await editor.act(row(editor, /poem\.txt, modified/), "Undo");
    await editor.toast().filter({ hasText: "poem.txt" }).waitFor();
    await editor.picture("refused");
    assert.match(poem(editor), /LINE two of mine/);
  }));
