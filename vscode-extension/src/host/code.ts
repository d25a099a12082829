// Tells the tools of agents what the language extensions of this window know.

import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";

import type {
  CodeFileParams,
  CodePlaceParams,
  CodeProblem,
  CodeProblemsResult,
  CodeQueryParams,
  CodeSpot,
  CodeSpotsResult,
} from "../protocol.gen";

const severities = ["error", "warning", "information", "hint"] as const;

type Place = vscode.Location | vscode.LocationLink;
type Symbol = vscode.DocumentSymbol | vscode.SymbolInformation;

export const aboutCode = {
  "agentls/code/problems": problems,
  "agentls/code/definition": (at: CodePlaceParams) =>
    places("vscode.executeDefinitionProvider", at),
  "agentls/code/references": (at: CodePlaceParams) => places("vscode.executeReferenceProvider", at),
  "agentls/code/symbols": symbols,
  "agentls/code/search": search,
};

export function answerAboutCode(client: Pick<LanguageClient, "onRequest">): void {
  for (const [method, answer] of Object.entries(aboutCode))
    client.onRequest(method, answer as (params: never) => unknown);
}

function problems({ uri }: CodeFileParams): CodeProblemsResult {
  const all: [vscode.Uri, readonly vscode.Diagnostic[]][] = uri
    ? [[vscode.Uri.parse(uri), vscode.languages.getDiagnostics(vscode.Uri.parse(uri))]]
    : vscode.languages.getDiagnostics();
  return {
    problems: all.flatMap(([file, found]) =>
      found.filter(({ source }) => source !== "agentls").map((one) => problem(file, one)),
    ),
  };
}

function problem(file: vscode.Uri, found: vscode.Diagnostic): CodeProblem {
  const code = typeof found.code === "object" ? found.code.value : found.code;
  return {
    uri: file.toString(),
    line: found.range.start.line,
    character: found.range.start.character,
    severity: severities[found.severity],
    message: found.message,
    source: found.source ?? "",
    code: code === undefined ? "" : String(code),
  };
}

async function places(command: string, at: CodePlaceParams): Promise<CodeSpotsResult> {
  const found = await vscode.commands.executeCommand<Place[] | undefined>(
    command,
    vscode.Uri.parse(at.uri),
    new vscode.Position(at.line, at.character),
  );
  return result((found ?? []).map((place) => spot(...target(place))));
}

async function symbols({ uri }: CodeFileParams): Promise<CodeSpotsResult> {
  const file = vscode.Uri.parse(uri ?? "");
  const found = await vscode.commands.executeCommand<Symbol[] | undefined>(
    "vscode.executeDocumentSymbolProvider",
    file,
  );
  return result((found ?? []).flatMap((symbol) => nested(symbol, file, "")));
}

async function search({ query }: CodeQueryParams): Promise<CodeSpotsResult> {
  const found = await vscode.commands.executeCommand<vscode.SymbolInformation[] | undefined>(
    "vscode.executeWorkspaceSymbolProvider",
    query,
  );
  return result((found ?? []).map((symbol) => named(symbol)));
}

/** VS Code does not say whether anybody was there to be asked: nothing found is not known. */
function result(spots: CodeSpot[]): CodeSpotsResult {
  return { spots, known: spots.length > 0 };
}

function target(place: Place): [vscode.Uri, vscode.Range] {
  return "targetUri" in place
    ? [place.targetUri, place.targetSelectionRange ?? place.targetRange]
    : [place.uri, place.range];
}

function nested(symbol: Symbol, file: vscode.Uri, inside: string): CodeSpot[] {
  // What VS Code hands out may be both; only one of them has children.
  if (!("children" in symbol)) return [named(symbol)];
  const own = spot(file, symbol.selectionRange, symbol.name, symbol.kind, inside);
  return [own, ...symbol.children.flatMap((child) => nested(child, file, symbol.name))];
}

function named(symbol: vscode.SymbolInformation): CodeSpot {
  const { uri, range } = symbol.location;
  return spot(uri, range, symbol.name, symbol.kind, symbol.containerName);
}

function spot(
  uri: vscode.Uri,
  range: vscode.Range,
  name = "",
  kind?: vscode.SymbolKind,
  inside = "",
): CodeSpot {
  return {
    uri: uri.toString(),
    line: range.start.line,
    character: range.start.character,
    name,
    kind: kind === undefined ? "" : vscode.SymbolKind[kind].toLowerCase(),
    inside,
  };
}
