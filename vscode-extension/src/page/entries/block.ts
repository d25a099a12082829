// Parts of messages and tool calls that are not text: pictures, links, resources.

import type { ContentBlock } from "../../protocol.gen";
import { imageSize } from "../../common/image";
import { target } from "../../common/links";
import { oneLine, visible } from "../../common/plainText";
import { linkAttributes } from "../markdown/render";
import { h, icon, type Node } from "../node";

/** A picture with more than this would cost more memory than it is worth. */
const MOST_PIXELS = 40_000_000;
const LONGEST_DATA = 12_000_000;

export function drawBlock(block: ContentBlock): Node {
  switch (block.kind) {
    case "image":
      return image(block);
    case "link":
    case "resource":
      return chip(block);
    case "text":
      return h("div.plain", { dir: "auto" }, visible(block.text ?? ""));
    default:
      return h("span.chip", {}, icon("question"), oneLine(block.kind, 40));
  }
}

function image(block: ContentBlock): Node {
  const data = block.data ?? "";
  const name = oneLine(block.name ?? "", 80);
  const size = data.length <= LONGEST_DATA ? imageSize(data) : undefined;
  if (!size || size.width * size.height > MOST_PIXELS) {
    return h("span.chip", {}, icon("file-media"), "A picture that cannot be shown");
  }
  const alt = name === "" ? "Picture" : name;
  return h("img.picture", {
    src: `data:${size.mime};base64,${data}`,
    alt,
    decoding: "async",
    width: String(Math.min(size.width, 4096)),
  });
}

function chip(block: ContentBlock): Node {
  const uri = block.uri ?? "";
  const label = oneLine(block.name || uri.split("/").at(-1) || "resource", 80);
  if (!target(uri)) return h("span.chip", {}, icon("file"), label);
  return h("span.chip.link", linkAttributes(uri), icon("file"), label);
}
