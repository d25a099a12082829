// What the entries have in common.

import { h, icon, type Element, type Node } from "../node";

export function row(
  name: string,
  attributes: Readonly<Record<string, string>>,
  ...children: Parameters<typeof h>[2][]
): Element {
  return h(`div.row.${name}`, { role: "article", ...attributes }, ...children);
}

/** A button that opens and closes the entry it is in. */
export function foldButton(id: string, open: boolean, ...children: readonly Node[]): Element {
  return h(
    "button.fold",
    { type: "button", "data-do": "toggle", "data-id": id, "aria-expanded": String(open) },
    icon(open ? "chevron-down" : "chevron-right"),
    ...children,
  );
}
