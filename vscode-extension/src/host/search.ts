// Searching in all that was ever said, edited or run, and going to where it was.

import * as vscode from "vscode";
import { methods, type SearchHit } from "../protocol.gen";
import { oneLine } from "../common/plainText";
import type { Context } from "./context";

const PAUSE = 120;

interface Item extends vscode.QuickPickItem {
  readonly hit: SearchHit;
}

export async function searchSessions(context: Context): Promise<void> {
  const hit = await choose(context);
  if (!hit) return;
  await context.chats.showAt(hit.sessionId, hit.entryId);
}

async function choose(context: Context): Promise<SearchHit | undefined> {
  const list = vscode.window.createQuickPick<Item>();
  list.placeholder = "Search in all sessions: what was said, edited or run";
  list.matchOnDescription = list.matchOnDetail = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let newest = 0;
  const look = async (words: string): Promise<void> => {
    const mine = ++newest;
    list.busy = true;
    try {
      const hits =
        words === "" ? [] : (await context.server.request(methods.search, { words })).hits;
      if (mine === newest) list.items = hits.map(itemOf);
    } finally {
      if (mine === newest) list.busy = false;
    }
  };
  try {
    return await new Promise((resolve, reject) => {
      list.onDidChangeValue((words) => {
        clearTimeout(timer);
        timer = setTimeout(() => void look(words.trim()).catch(reject), PAUSE);
      });
      list.onDidAccept(() => resolve(list.selectedItems[0]?.hit));
      list.onDidHide(() => resolve(undefined));
      list.show();
    });
  } finally {
    clearTimeout(timer);
    list.dispose();
  }
}

function itemOf(hit: SearchHit): Item {
  return {
    label: oneLine(hit.snippet, 120),
    description: `${hit.agent}, ${new Date(hit.at * 1000).toLocaleDateString()}`,
    detail: oneLine(hit.title, 120),
    // The server found it: the list must not decide again.
    alwaysShow: true,
    hit,
  };
}
