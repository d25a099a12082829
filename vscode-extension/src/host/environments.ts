// The Python environments of the window: the one that the Python extension uses, and those in the
// folders themselves. Only for folders that a person trusts.

import { accessSync, constants, statSync } from "node:fs";
import { dirname, join } from "node:path";
import * as vscode from "vscode";

interface PythonApi {
  readonly environments?: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { readonly path: string };
  };
}

export async function environments(): Promise<readonly string[]> {
  if (!vscode.workspace.isTrusted) return [];
  const folders = (vscode.workspace.workspaceFolders ?? []).filter(
    (folder) => folder.uri.scheme === "file",
  );
  const scripts = process.platform === "win32" ? "Scripts" : "bin";
  const local = folders.flatMap((folder) =>
    [".venv", "venv"].map((name) => join(folder.uri.fsPath, name, scripts)),
  );
  return [...(await chosen(folders[0]?.uri)), ...local];
}

async function chosen(folder: vscode.Uri | undefined): Promise<readonly string[]> {
  const extension = vscode.extensions.getExtension<PythonApi>("ms-python.python");
  if (!extension) return [];
  try {
    const api = extension.isActive ? extension.exports : await extension.activate();
    const path = api.environments?.getActiveEnvironmentPath(folder).path ?? "";
    return path === "" ? [] : [dirname(path)];
  } catch {
    return [];
  }
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
