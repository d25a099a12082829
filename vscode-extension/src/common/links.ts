// Which links of an agent may be followed, and what following one means.
//
// The page makes links of these only, and the host decides again before it opens one. Everything
// else (command:, javascript:, vscode:, data:…) is text.

export type Target =
  | { readonly type: "web"; readonly url: string }
  | { readonly type: "file"; readonly path: string; readonly line?: number };

const LONGEST = 2048;
const SCHEME = /^[a-z][a-z0-9+.-]*:/i;
const PLACE = /^(.*?)(?::(\d{1,7})(?::\d{1,7})?|#L(\d{1,7})(?:-L?\d{1,7})?)?$/s;
const FILE_NAME = /^(?:[\w.@~+-]+\/)*[\w.@+-]+\.[a-z]\w{0,9}(?::\d{1,7}){0,2}$/i;
/** C0, C1, bidirectional and invisible characters: nothing that a link needs. */
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;

export function target(href: string): Target | undefined {
  if (href === "" || href.length > LONGEST || HIDDEN.test(href)) return undefined;
  if (/^(https?|mailto):/i.test(href)) return web(href);
  if (/^file:\/\//i.test(href)) return fileUrl(href);
  // A Windows drive is no scheme.
  if (SCHEME.test(href) && !/^[a-z]:[\\/]/i.test(href) && !FILE_NAME.test(href)) return undefined;
  if (href.startsWith("#") || href.startsWith("//") || href.startsWith("\\\\")) return undefined;
  return place(href);
}

/** Inline code that looks like a file, with or without a line: `src/app.py:12`. */
export function fileInCode(text: string): Target | undefined {
  return text.length <= 300 && FILE_NAME.test(text) ? target(text) : undefined;
}

/** The link to a path that is exactly this, whatever characters it has. */
export function fileHref(path: string, line?: number | null): string {
  const slashes = path.replaceAll("\\", "/");
  const start = /^[a-z]:/i.test(slashes) ? "file:///" : slashes.startsWith("/") ? "file://" : "./";
  const drive = /^[a-z]:/i.exec(slashes)?.[0] ?? "";
  const rest = slashes.slice(drive.length).split("/").map(encoded).join("/");
  return `${start}${drive}${rest}${line == null ? "" : `:${line}`}`;
}

function encoded(part: string): string {
  // Half a character cannot be encoded.
  return encodeURIComponent(part.replace(/\p{Surrogate}/gu, "\ufffd"));
}

function web(href: string): Target | undefined {
  try {
    const url = new URL(href);
    // user:password@host is there to deceive.
    if (url.username !== "" || url.password !== "") return undefined;
    return { type: "web", url: url.toString() };
  } catch {
    return undefined;
  }
}

function fileUrl(href: string): Target | undefined {
  const [, host, path] = /^file:\/\/([^/]*)(\/.*)$/is.exec(href) ?? [];
  if (path === undefined || (host !== "" && host !== "localhost")) return undefined;
  return place(path.replace(/^\/([a-z]:\/)/i, "$1"));
}

function place(text: string): Target | undefined {
  const [, raw = "", line, anchor] = PLACE.exec(text) ?? [];
  const path = decoded(raw);
  if (path === "" || HIDDEN.test(path)) return undefined;
  const number = line ?? anchor;
  return number === undefined
    ? { type: "file", path }
    : { type: "file", path, line: Number(number) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
