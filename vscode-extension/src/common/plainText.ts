// Text that only looks like what it is: no hidden direction, no control characters.

const UNSEEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
/** What a terminal would obey: CSI, OSC and other strings, and two-character escapes. */
const ESCAPE =
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])/g;

/** Control and direction characters become visible; line breaks and tabs stay. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (found) => (found === "\r" ? "" : `⟨U+${codePoint(found)}⟩`));
}

function codePoint(character: string): string {
  return character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
}

/** Without what a terminal would obey. */
export function withoutEscapes(text: string): string {
  return text.replace(ESCAPE, "");
}

/** One line for a title or a tree. */
export function oneLine(text: string, longest = 120): string {
  // Nothing is gained by looking at more than could be shown.
  const flat = visible(withoutEscapes(text.slice(0, 8 * longest)).replace(/\s+/g, " ")).trim();
  return flat.length <= longest ? flat : `${flat.slice(0, longest - 1)}…`;
}

/**
 * For VS Code's notifications, which make links of `[label](command:…)`: an agent must not be able
 * to put one there.
 */
export function forNotification(text: string, longest = 200): string {
  return oneLine(text, longest).replaceAll("](", "] (");
}
