// What is shown, as plain values: made and tested without a page, and turned into elements here only.
//
// Invariant: text is always text. There is no way to say "this string is HTML".

export interface Element {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Node[];
}

export type Node = Element | string;

/** h("p.note", { title }, "text"): the classes are part of the first argument. */
export function h(
  name: string,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (Node | readonly Node[] | undefined | false)[]
): Element {
  const [tag = "div", ...classes] = name.split(".");
  const all = classes.length > 0 ? { class: classes.join(" "), ...attributes } : attributes;
  const there = children
    .flat()
    .filter((child): child is Node => child !== undefined && child !== false);
  return { tag, attributes: all, children: there };
}

export function icon(name: string, ...classes: readonly string[]): Element {
  return h(["span.codicon", `codicon-${name}`, ...classes].join("."), { "aria-hidden": "true" });
}

/** A button that says what it does in `data-do`; the page listens once for all of them. */
export function button(
  action: string,
  label: string,
  data: Readonly<Record<string, string>> = {},
  ...children: readonly Node[]
): Element {
  const name = children.length === 0 ? "button.text-button" : "button.icon-button";
  const title = children.length === 0 ? {} : { title: label, "aria-label": label };
  return h(
    name,
    { type: "button", "data-do": action, ...title, ...data },
    ...(children.length ? children : [label]),
  );
}

export function toDom(node: Node): globalThis.Node {
  if (typeof node === "string") return document.createTextNode(node);
  const element = document.createElement(node.tag);
  for (const [name, value] of Object.entries(node.attributes)) element.setAttribute(name, value);
  for (const child of node.children) element.append(toDom(child));
  return element;
}

const filled = new WeakMap<HTMLElement, string>();

/** Shows these nodes in an element. What is there already stays: a button must not go under a click. */
export function fill(element: HTMLElement, nodes: readonly (Node | undefined | false)[]): void {
  const there = nodes.filter((node) => node !== undefined && node !== false);
  const text = JSON.stringify(there);
  if (filled.get(element) === text) return;
  filled.set(element, text);
  element.replaceChildren(...there.map(toDom));
}

/** The text of a node, as a screen reader would read it. */
export function textOf(node: Node): string {
  return typeof node === "string" ? node : node.children.map(textOf).join("");
}
