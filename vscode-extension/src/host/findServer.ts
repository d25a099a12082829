// Where the server is: a setting, the Python environment, PATH, or uvx when a person agreed to it.
//
// Invariant: a folder that is not trusted names no program, and a relative entry of PATH does not
// count.

export interface Surroundings {
  /** The setting `agentls.server.command`, which an untrusted folder cannot set. */
  readonly setting: readonly string[];
  /** Folders with the programs of the Python environments, the chosen one first. */
  readonly environments: readonly string[];
  readonly path: string;
  readonly platform: string;
  /** A person said that uvx may download and run it. */
  readonly uvx: boolean;
  readonly isProgram: (path: string) => boolean;
}

export interface Found {
  readonly command: readonly [string, ...string[]];
  /** For the log. */
  readonly how: string;
}

export function findServer(around: Surroundings): Found | undefined {
  const [program, ...rest] = around.setting;
  if (program !== undefined && program !== "")
    return { command: [program, ...rest], how: "the setting" };
  for (const folder of around.environments) {
    const found = programIn(folder, "agentls", around);
    if (found !== undefined) return { command: [found], how: "the Python environment" };
  }
  const installed = onPath("agentls", around);
  if (installed !== undefined) return { command: [installed], how: "PATH" };
  const uvx = around.uvx ? onPath("uvx", around) : undefined;
  return uvx === undefined ? undefined : { command: [uvx, "agentls"], how: "uvx" };
}

export function onPath(
  name: string,
  around: Pick<Surroundings, "path" | "platform" | "isProgram">,
): string | undefined {
  const windows = around.platform === "win32";
  for (const folder of around.path.split(windows ? ";" : ":")) {
    if (!(windows ? /^[a-z]:[\\/]/i : /^\//).test(folder)) continue;
    const found = programIn(folder, name, around);
    if (found !== undefined) return found;
  }
  return undefined;
}

function programIn(
  folder: string,
  name: string,
  around: Pick<Surroundings, "platform" | "isProgram">,
): string | undefined {
  const windows = around.platform === "win32";
  const path = `${folder.replace(/[\\/]$/, "")}${windows ? "\\" : "/"}${name}${windows ? ".exe" : ""}`;
  return around.isProgram(path) ? path : undefined;
}
