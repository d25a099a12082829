// A real VS Code in a real browser, with a fresh state, a workspace and the packed extension.
//
// What it needs to know comes in AGENTLS_UI, a JSON object written by tests/vscode/conftest.py.

import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import {
  chromium,
  type Browser,
  type Frame,
  type FrameLocator,
  type Locator,
  type Page,
} from "playwright-core";
import { QuickInput } from "./quickInput";

export interface Place {
  readonly node: string;
  readonly vscode: string;
  readonly chromium: string;
  readonly chromiumEnv: Record<string, string>;
  readonly vsix: string;
  /** The command that starts the server, and the Python beside it. */
  readonly server: string;
  readonly python: string;
  readonly extension: string;
  readonly scenarios: string;
  readonly sample: string;
  readonly floodAgent: string;
  readonly pictures: string;
}

export const place = JSON.parse(process.env["AGENTLS_UI"] ?? "{}") as Place;

const SETTINGS = {
  "workbench.startupEditor": "none",
  "workbench.enableExperiments": false,
  "workbench.tips.enabled": false,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "chat.disableAIFeatures": true,
  "telemetry.telemetryLevel": "off",
  "extensions.autoUpdate": "off",
  "extensions.autoCheckUpdates": false,
  "extensions.ignoreRecommendations": true,
  "update.mode": "none",
  "files.simpleDialog.enable": true,
  "terminal.integrated.gpuAcceleration": "off",
  "git.enabled": false,
};

export interface Options {
  /** Agents beside the built-in ones: a scenario's name, or a command. */
  readonly agents?: Readonly<Record<string, readonly string[]>>;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly files?: Readonly<Record<string, string>>;
  /** For tests inside the extension host: no toasts, no dialogs. */
  readonly smoke?: boolean;
  readonly trust?: boolean;
}

export class Editor {
  readonly problems: string[] = [];
  page!: Page;
  quick!: QuickInput;
  private browser: Browser | undefined;
  private process: ChildProcess | undefined;

  private constructor(
    readonly folder: string,
    readonly workspace: string,
    private readonly port: number,
  ) {}

  static async open(options: Options = {}): Promise<Editor> {
    const folder = mkdtempSync(join(tmpdir(), "agentls-vscode-"));
    const editor = new Editor(folder, join(folder, "greeter"), await freePort());
    editor.prepare(options);
    await editor.serve(options);
    await editor.browse();
    return editor;
  }

  /** The address, with what VS Code is told at start. */
  url(payload: readonly (readonly [string, string])[] = []): string {
    const more =
      payload.length === 0 ? "" : `&payload=${encodeURIComponent(JSON.stringify(payload))}`;
    return `http://127.0.0.1:${this.port}/?folder=${this.workspace}${more}`;
  }

  remote(path: string): string {
    return `vscode-remote://127.0.0.1:${this.port}${path}`;
  }

  async close(): Promise<void> {
    await this.browser?.close();
    const { process: server } = this;
    if (server?.pid !== undefined) {
      const ended = new Promise((resolve) => server.once("exit", resolve));
      process.kill(-server.pid, "SIGKILL");
      await ended;
    }
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  private prepare(options: Options): void {
    cpSync(place.sample, this.workspace, { recursive: true });
    this.write(
      "data/User/settings.json",
      JSON.stringify({
        ...SETTINGS,
        "agentls.server.command": [place.server],
        ...options.settings,
      }),
    );
    const agents = Object.entries(options.agents ?? {}).map(
      ([name, command]) => `[agents.${name}]\ncommand = ${JSON.stringify(command)}\n`,
    );
    this.write("config/agentls/agents.toml", agents.join("\n"));
    for (const [name, text] of Object.entries(options.files ?? {}))
      this.write(`greeter/${name}`, text);
    for (const name of ["home", "ext", "sdd"])
      mkdirSync(join(this.folder, name), { recursive: true });
  }

  private write(name: string, text: string): void {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  private async serve(options: Options): Promise<void> {
    const at = (name: string) => join(this.folder, name);
    const main = join(place.vscode, "out/server-main.js");
    const folders = [
      "--server-data-dir",
      at("sdd"),
      "--user-data-dir",
      at("data"),
      "--extensions-dir",
      at("ext"),
      "--accept-server-license-terms",
    ];
    const env = {
      ...process.env,
      HOME: at("home"),
      XDG_CONFIG_HOME: at("config"),
      XDG_STATE_HOME: at("state"),
      AGENTLS_UI: "",
      EXTENSIONS_GALLERY: "{}",
      AGENTLS_DEMO_DELAY: "0",
    };
    if (options.smoke !== true)
      execFileSync(place.node, [main, "--install-extension", place.vsix, ...folders], {
        env,
        stdio: "pipe",
      });
    const flags = [
      "--without-connection-token",
      "--disable-telemetry",
      "--disable-experiments",
      "--disable-getting-started-override",
    ];
    if (options.smoke === true) flags.push("--enable-smoke-test-driver");
    if (options.trust !== false) flags.push("--disable-workspace-trust");
    this.process = spawn(
      place.node,
      [main, "--host", "127.0.0.1", "--port", String(this.port), ...flags, ...folders],
      { env, detached: true, stdio: ["ignore", "pipe", "pipe"] },
    );
    await new Promise<void>((resolve, reject) => {
      this.process?.stdout?.on(
        "data",
        (data: Buffer) => data.toString().includes("Extension host agent listening") && resolve(),
      );
      this.process?.once("exit", (code) => reject(new Error(`VS Code ended with ${code}`)));
    });
  }

  private async browse(): Promise<void> {
    this.browser = await chromium.launch({
      executablePath: place.chromium,
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
      env: { ...process.env, ...place.chromiumEnv },
    });
    const context = await this.browser.newContext({
      viewport: { width: 1280, height: 800 },
      permissions: ["clipboard-read", "clipboard-write"],
    });
    context.setDefaultTimeout(45_000);
    this.page = await context.newPage();
    this.quick = new QuickInput(this.page);
  }

  // -- what a person does

  async load(): Promise<void> {
    await this.page.goto(this.url());
    await this.page.waitForSelector(".monaco-workbench .explorer-folders-view");
    await this.page.waitForSelector('.statusbar-item[id*="agentls"]');
  }

  async command(title: string): Promise<void> {
    await this.quick.command(title);
  }

  async openFile(name: string): Promise<void> {
    await this.page
      .locator(".explorer-folders-view .monaco-list-row")
      .filter({ hasText: name })
      .first()
      .dblclick();
    await this.page.waitForSelector(".monaco-editor .view-lines .view-line");
  }

  /** Uses an action of a row in a tree; the row may move while it is pointed at. */
  async act(row: Locator, action: string): Promise<void> {
    const button = row.first().locator(`.action-label[aria-label="${action}"]`);
    for (let tries = 1; ; tries++) {
      try {
        await row.first().hover();
        await button.click({ timeout: 4_000 });
        return;
      } catch (error) {
        if (tries === 10) throw error;
        await this.page.mouse.move(640, 20);
      }
    }
  }

  status(): Locator {
    return this.page.locator('.statusbar-item[id*="agentls"]');
  }

  toast(): Locator {
    return this.page.locator(".notification-toast");
  }

  /** The chat in the side bar, ready for a prompt. */
  async chat(): Promise<FrameLocator> {
    await this.command("Agents: Open Chat");
    const chat = this.frame();
    await chat.locator("textarea").waitFor();
    // The name of an agent: the server runs and has told it.
    await chat
      .locator(".picker")
      .filter({ hasNotText: /^Agent$/ })
      .first()
      .waitFor();
    return chat;
  }

  frame(index = 0): FrameLocator {
    return this.page
      .locator("iframe.webview.ready")
      .nth(index)
      .contentFrame()
      .frameLocator("#active-frame");
  }

  /** The page of the chat itself, for measuring in it. */
  async chatFrame(): Promise<Frame> {
    const element = await this.frame().locator("body").elementHandle();
    const frame = await element.ownerFrame();
    if (!frame) throw new Error("there is no chat");
    return frame;
  }

  async say(chat: FrameLocator, text: string): Promise<void> {
    await chat.locator("textarea").fill(text);
    await chat.locator("textarea").press("Enter");
  }

  /** Gives the chat more room, as a person would by dragging its edge. */
  async widen(to = 800): Promise<void> {
    const box = await this.page.locator(".part.auxiliarybar").boundingBox();
    if (!box) throw new Error("the chat is not open");
    await this.page.mouse.move(box.x - 3, 400);
    await this.page.mouse.down();
    await this.page.mouse.move(to, 400, { steps: 4 });
    await this.page.mouse.up();
    await this.page.mouse.move(640, 20);
  }

  async picture(name: string): Promise<void> {
    if (place.pictures === "") return;
    // Lists and notifications fade.
    await this.page.waitForTimeout(600);
    await this.page.screenshot({ path: join(place.pictures, `vscode-${name}.png`) });
  }
}

/** The agent that plays tests/scenarios/<name>.jsonl. */
export function scenario(name: string): readonly string[] {
  return [place.python, "-m", "agentls.agent.replay", join(place.scenarios, `${name}.jsonl`)];
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** A story: its own VS Code, closed whatever happens; on failure a picture of it. */
export async function story(
  options: Options,
  tell: (editor: Editor) => Promise<void>,
): Promise<void> {
  const editor = await Editor.open(options);
  try {
    await editor.load();
    await tell(editor);
  } catch (error) {
    const path = join(tmpdir(), `agentls-vscode-failed-${process.pid}.png`);
    await editor.page.screenshot({ path }).catch(() => undefined);
    process.stderr.write(`What was seen: ${path}\n`);
    throw error;
  } finally {
    await editor.close();
  }
}
