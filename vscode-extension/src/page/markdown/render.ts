// A block of Markdown as nodes.
//
// Invariant: whatever the text is, only the elements and attributes below come out. HTML is shown as
// text, images are links, and links lead only where common/links.ts allows.

import MarkdownIt from "markdown-it";
import type { Token } from "markdown-it";
import { fileInCode, target } from "../../common/links";
import { visible } from "../../common/plainText";
import { highlight } from "../highlight";
import { button, h, icon, type Element, type Node } from "../node";
import type { Block } from "./blocks";

const parser = new MarkdownIt({ html: false, linkify: true, breaks: false, typographer: false });
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
// Whether a link may be followed is decided when it is shown, and what may not is shown as text.
parser.validateLink = () => true;

const PLAIN = new Set([
  "p", "strong", "em", "s", "ul", "li", "blockquote", "table", "thead", "tbody", "tr", "h1", "h2", "h3", "h4",
  "h5", "h6",
]); // prettier-ignore

export function render(block: Block): readonly Node[] {
  if (block.code) return [codeBlock(block.code.text, block.code.info, block.code.goesOn)];
  return build(parser.parse(visible(block.source), {}));
}

export function codeBlock(code: string, info: string, goesOn = false): Element {
  const language = /^[\w+#.-]{1,20}/.exec(info)?.[0] ?? "";
  return h(
    goesOn ? "div.code.goes-on" : "div.code",
    {},
    h(
      "div.code-bar",
      {},
      h("span.code-language", {}, language),
      button("copy-code", "Copy", {}, icon("copy")),
      button("insert-code", "Insert at cursor", {}, icon("insert")),
    ),
    h("pre", { tabindex: "0" }, h("code", {}, highlight(visible(code), info))),
  );
}

/** Tokens open and close; here they become a tree. */
function build(tokens: readonly Token[]): readonly Node[] {
  const stack: { element: Element; children: Node[] }[] = [{ element: h("div"), children: [] }];
  const put = (node: Node) => stack.at(-1)?.children.push(node);
  for (const token of tokens) {
    if (token.hidden) continue;
    if (token.nesting === 1) {
      stack.push({ element: opened(token), children: [] });
    } else if (token.nesting === -1) {
      const top = stack.length > 1 ? stack.pop() : undefined;
      if (top) put({ ...top.element, children: top.children });
    } else {
      leaf(token).forEach(put);
    }
  }
  return stack[0]?.children ?? [];
}

function opened(token: Token): Element {
  if (token.tag === "a") return link(attribute(token, "href"));
  if (token.tag === "ol") {
    const start = attribute(token, "start");
    return h("ol", /^\d{1,9}$/.test(start) ? { start } : {});
  }
  if (token.tag === "th" || token.tag === "td") {
    const side = /text-align:(left|right|center)/.exec(attribute(token, "style"))?.[1];
    return h(side === undefined ? token.tag : `${token.tag}.${side}`);
  }
  return h(PLAIN.has(token.tag) ? token.tag : "span");
}

function leaf(token: Token): readonly Node[] {
  switch (token.type) {
    case "inline":
      return build(token.children ?? []);
    case "fence":
    case "code_block":
      return [codeBlock(token.content.replace(/\n$/, ""), token.info)];
    case "code_inline":
      return [inlineCode(token.content)];
    case "hr":
      return [h("hr")];
    case "hardbreak":
      return [h("br")];
    case "softbreak":
      return ["\n"];
    case "image":
      return [image(token)];
    default:
      return [token.content];
  }
}

function inlineCode(text: string): Node {
  const file = fileInCode(text);
  return file ? h("code.file", linkAttributes(text), text) : h("code", {}, text);
}

/** A picture from anywhere would tell somebody that it was looked at. */
function image(token: Token): Node {
  const label = token.content === "" ? "image" : token.content;
  const element = link(attribute(token, "src"));
  return { ...element, children: [icon("file-media"), ` ${label}`] };
}

function link(href: string): Element {
  return target(href)
    ? h("a", linkAttributes(href))
    : h("span.no-link", { title: `Not a link: ${visible(href).slice(0, 200)}` });
}

/** Without `href`: nothing but our own listener follows it. */
export function linkAttributes(href: string): Readonly<Record<string, string>> {
  return { role: "link", tabindex: "0", title: href, "data-do": "link", "data-href": href };
}

function attribute(token: Token, name: string): string {
  // The number of a list comes as a number, whatever its type says.
  const value = token.attrGet(name) as string | number | null;
  return value === null ? "" : value.toString();
}
