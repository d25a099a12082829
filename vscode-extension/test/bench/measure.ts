// Measures the chat in a real VS Code: node measure.js '{"chunks": …, "stream": …, "entries": …}'.
// Prints one JSON object; bench/vscode.py makes rows of it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Frame, Page } from "playwright-core";
import { Editor, place } from "../ui/harness";

interface Sizes {
  readonly agent: readonly string[];
  readonly chunks: number;
  readonly stream: number;
  readonly entries: number;
}

interface Watched {
  /** The longest time in which the page could do nothing else. */
  gap: number;
  latencies: number[];
}

declare global {
  interface Window {
    watched: Watched;
  }
}

/** Starts a clock in the page that notices when it does not get its turn. */
async function watch(page: Page | Frame): Promise<void> {
  await page.evaluate(() => {
    const watched: Watched = { gap: 0, latencies: [] };
    window.watched = watched;
    let last = performance.now();
    const channel = new MessageChannel();
    const tick = () => {
      const now = performance.now();
      watched.gap = Math.max(watched.gap, now - last);
      last = now;
      setTimeout(() => channel.port2.postMessage(0), 4);
    };
    channel.port1.onmessage = tick;
    tick();
  });
}

/** Notes when each time stamp of the stream is in the page. */
async function watchStamps(frame: Frame): Promise<void> {
  await frame.evaluate(() => {
    let newest = 0;
    const look = () => {
      const now = Date.now();
      const rows = [...document.querySelectorAll("#list .agent")].slice(-2);
      for (const [, stamp] of rows
        .map((row) => row.textContent)
        .join(" ")
        .matchAll(/T(\d{13})/g)) {
        const at = Number(stamp);
        if (at <= newest) continue;
        newest = at;
        window.watched.latencies.push(now - at);
      }
    };
    const list = document.getElementById("list");
    if (list)
      new MutationObserver(look).observe(list, {
        childList: true,
        subtree: true,
        characterData: true,
      });
  });
}

/** Sends an order; how long until the turn is over and the marker, if any, is in the page. */
async function turn(editor: Editor, frame: Frame, text: string, marker = ""): Promise<number> {
  await watch(frame);
  await watch(editor.page);
  const chat = editor.frame();
  await chat.locator("textarea").fill(text);
  const start = Date.now();
  await chat.locator("textarea").press("Enter");
  const end = await frame.evaluate(async (wanted) => {
    const body = document.body;
    const frameDone = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const last = () => [...document.querySelectorAll("#list .agent")].at(-1)?.textContent ?? "";
    const over = () =>
      document.querySelector("#list .turn-end") && !body.classList.contains("running");
    while (!over() || !last().includes(wanted)) await frameDone();
    await frameDone();
    return Date.now();
  }, marker);
  return end - start;
}

async function gaps(editor: Editor, frame: Frame): Promise<number> {
  const [page, workbench] = await Promise.all(
    [frame, editor.page].map((one) => one.evaluate(() => window.watched.gap)),
  );
  return Math.max(page ?? 0, workbench ?? 0);
}

async function fresh(editor: Editor): Promise<Frame> {
  await editor.command("Agents: New Session");
  await editor.frame().locator(".welcome").waitFor();
  return editor.chatFrame();
}

/** Everything in the list, read by scrolling through it: that nothing was left out. */
async function characters(frame: Frame): Promise<number> {
  return frame.evaluate(async () => {
    const list = document.getElementById("list");
    if (!list) throw new Error("no list");
    const seen = new Map<string, number>();
    for (let top = 0; top < list.scrollHeight; top += list.clientHeight) {
      list.scrollTop = top;
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      for (const row of list.querySelectorAll<HTMLElement>(".agent")) {
        seen.set(row.dataset["key"] ?? "", row.textContent.replace(/\s/g, "").length);
      }
    }
    return [...seen.values()].reduce((sum, one) => sum + one, 0);
  });
}

async function scroll(frame: Frame): Promise<{ readonly nodes: number; readonly rows: number }> {
  return frame.evaluate(async () => {
    const list = document.getElementById("list");
    if (!list) throw new Error("no list");
    const frameDone = () => new Promise((resolve) => requestAnimationFrame(resolve));
    let nodes = 0;
    for (let round = 0; round < 400; round++) {
      // All the way up and down again, also over places that were never seen.
      list.scrollTop = list.scrollHeight * Math.abs(1 - round / 200);
      await frameDone();
      nodes = Math.max(nodes, document.querySelectorAll("#list *").length);
    }
    return { nodes, rows: document.querySelectorAll("#list .row").length };
  });
}

async function measure(sizes: Sizes): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  const editor = await Editor.open({
    agents: { bench: sizes.agent },
    settings: { "agentls.agent": "bench" },
  });
  editor.page.context().setDefaultTimeout(120_000);
  try {
    await editor.load();
    await editor.chat();
    let frame = await editor.chatFrame();
    await turn(editor, frame, "flood 500");
    frame = await fresh(editor);
    found["flood"] = await turn(editor, frame, `flood ${sizes.chunks}`, "THE-END");
    found["floodGap"] = await gaps(editor, frame);
    found["floodCharacters"] = await characters(frame);
    frame = await fresh(editor);
    await watch(frame);
    await watchStamps(frame);
    const latencies = turnWithStamps(editor, frame, sizes.stream);
    const sorted = (await latencies).sort((a, b) => a - b);
    found["stamps"] = sorted.length;
    found["latency"] = sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN;
    found["latencyMedian"] = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
    frame = await fresh(editor);
    await turn(editor, frame, `entries ${sizes.entries}`);
    found["entriesGap"] = await gaps(editor, frame);
    await watch(frame);
    await watch(editor.page);
    const { nodes } = await scroll(frame);
    found["nodes"] = nodes;
    found["scrollGap"] = await gaps(editor, frame);
    await editor.command("View: Hide Secondary Side Bar");
    await editor.page.locator("iframe.webview.ready").waitFor({ state: "detached" });
    await watch(editor.page);
    await editor.chat();
    frame = await editor.chatFrame();
    await watch(frame);
    await frame.locator(".row").first().waitFor();
    await frame.locator("#list").press("Home");
    await frame.waitForFunction(
      (wanted) =>
        Number(
          document
            .querySelector<HTMLElement>("#list .list-content")
            ?.style.height.replace("px", ""),
        ) > wanted,
      sizes.entries * 20,
    );
    found["reopenGap"] = await gaps(editor, frame);
  } finally {
    await editor.close();
  }
  return found;
}

async function turnWithStamps(editor: Editor, frame: Frame, count: number): Promise<number[]> {
  const chat = editor.frame();
  await chat.locator("textarea").fill(`rate ${count} 150`);
  await chat.locator("textarea").press("Enter");
  await chat.locator(".turn-end").waitFor();
  return frame.evaluate(() => window.watched.latencies);
}

/** What our own code takes when VS Code activates it: measured by the tests inside the host. */
async function activation(): Promise<number> {
  const editor = await Editor.open({ smoke: true, settings: { "agentls.agent": "demo" } });
  try {
    const ended = new Promise<number>(
      (resolve) => void editor.page.exposeFunction("codeAutomationExit", resolve),
    );
    await editor.page.exposeFunction("codeAutomationLog", () => undefined);
    await editor.page.goto(
      editor.url([
        ["extensionDevelopmentPath", editor.remote(place.extension)],
        ["extensionTestsPath", editor.remote(join(place.extension, "build/host/index.js"))],
      ]),
    );
    await ended;
    const { found } = JSON.parse(readFileSync(join(editor.folder, "results.json"), "utf8")) as {
      found: Record<string, number>;
    };
    return found["activation"] ?? Number.NaN;
  } finally {
    await editor.close();
  }
}

async function main(): Promise<void> {
  const sizes = JSON.parse(process.argv[2] ?? "{}") as Sizes;
  const found = { ...(await measure(sizes)), activation: await activation() };
  process.stdout.write(`${JSON.stringify(found)}\n`);
}

void main();
