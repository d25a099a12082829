// The output of a command as nodes: colours are kept, everything else a terminal would obey is not.

import { visible, withoutEscapes } from "../common/plainText";
import { h, type Node } from "./node";

const SGR = /\u001b\[([0-9;:]*)m/g;
const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

class Style {
  bold = false;
  dim = false;
  italic = false;
  underline = false;
  colour = "";

  apply(codes: readonly number[]): void {
    for (let i = 0; i < codes.length; i++) {
      const code = codes[i] ?? 0;
      // 38;5;n and 38;2;r;g;b: more colours than a theme has names for.
      if (code === 38 || code === 48) i += codes[i + 1] === 5 ? 2 : 4;
      else this.set(code);
    }
  }

  classes(): string {
    const flags = {
      bold: this.bold,
      dim: this.dim,
      italic: this.italic,
      underline: this.underline,
    };
    const names = Object.entries(flags).flatMap(([name, on]) => (on ? [`ansi-${name}`] : []));
    return [...names, ...(this.colour === "" ? [] : [`ansi-${this.colour}`])].join(" ");
  }

  private set(code: number): void {
    if (code === 0) Object.assign(this, new Style());
    else if (code === 1) this.bold = true;
    else if (code === 2) this.dim = true;
    else if (code === 3) this.italic = true;
    else if (code === 4) this.underline = true;
    else if (code === 22) this.bold = this.dim = false;
    else if (code === 23) this.italic = false;
    else if (code === 24) this.underline = false;
    else if (code === 39) this.colour = "";
    else if (code >= 30 && code <= 37) this.colour = NAMES[code - 30] ?? "";
    else if (code >= 90 && code <= 97) this.colour = `bright-${NAMES[code - 90] ?? ""}`;
  }
}

export function output(text: string): readonly Node[] {
  const nodes: Node[] = [];
  const style = new Style();
  let from = 0;
  const put = (part: string) => {
    const shown = visible(withoutEscapes(part));
    const classes = style.classes();
    if (shown !== "") nodes.push(classes === "" ? shown : h("span", { class: classes }, shown));
  };
  const settled = overwritten(text);
  for (const found of settled.matchAll(SGR)) {
    put(settled.slice(from, found.index));
    style.apply((found[1] ?? "").split(/[;:]/).map(Number));
    from = found.index + found[0].length;
  }
  put(settled.slice(from));
  return nodes;
}

/** A carriage return begins the line again: of a progress bar only the last state is left. */
function overwritten(text: string): string {
  if (!text.includes("\r")) return text;
  return text
    .replaceAll("\r\n", "\n")
    .replace(/[^\n\r]*\r(?=[^\n])/g, "")
    .replaceAll("\r", "");
}
