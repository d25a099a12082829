// The real type and size of a picture, read from its first bytes.
//
// What an agent says about a picture does not count: only these four types are ever shown, and only
// after looking at how large they would be.

export interface ImageSize {
  readonly mime: "image/png" | "image/jpeg" | "image/gif" | "image/webp";
  readonly width: number;
  readonly height: number;
}

/** How much of the data is looked at; a JPEG may have a long preamble. */
const HEAD = 64 * 1024;

export function imageSize(base64: string): ImageSize | undefined {
  const bytes = decode(base64.slice(0, HEAD - (HEAD % 4)));
  if (!bytes) return undefined;
  const view = new DataView(bytes.buffer);
  const found = png(view) ?? gif(view) ?? webp(view) ?? jpeg(view);
  return found && found.width > 0 && found.height > 0 ? found : undefined;
}

function decode(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function has(view: DataView, at: number, text: string): boolean {
  if (view.byteLength < at + text.length) return false;
  return Array.from(text).every(
    (character, i) => view.getUint8(at + i) === character.charCodeAt(0),
  );
}

function png(view: DataView): ImageSize | undefined {
  if (!has(view, 0, "\x89PNG\r\n\x1a\n") || view.byteLength < 24) return undefined;
  return { mime: "image/png", width: view.getUint32(16), height: view.getUint32(20) };
}

function gif(view: DataView): ImageSize | undefined {
  if (!has(view, 0, "GIF8") || view.byteLength < 10) return undefined;
  return { mime: "image/gif", width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

function webp(view: DataView): ImageSize | undefined {
  if (!has(view, 0, "RIFF") || !has(view, 8, "WEBP") || view.byteLength < 30) return undefined;
  const mime = "image/webp";
  if (has(view, 12, "VP8X"))
    return { mime, width: 1 + three(view, 24), height: 1 + three(view, 27) };
  if (has(view, 12, "VP8L")) {
    const bits = view.getUint32(21, true);
    return { mime, width: 1 + (bits & 0x3fff), height: 1 + ((bits >> 14) & 0x3fff) };
  }
  return {
    mime,
    width: view.getUint16(26, true) & 0x3fff,
    height: view.getUint16(28, true) & 0x3fff,
  };
}

function three(view: DataView, at: number): number {
  return view.getUint8(at) | (view.getUint8(at + 1) << 8) | (view.getUint8(at + 2) << 16);
}

function jpeg(view: DataView): ImageSize | undefined {
  if (view.byteLength < 4 || view.getUint16(0) !== 0xffd8) return undefined;
  for (let at = 2; at + 9 < view.byteLength; at += 2 + view.getUint16(at + 2)) {
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame)
      return { mime: "image/jpeg", width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
  }
  return undefined;
}
