import assert from "node:assert/strict";
import { test } from "node:test";
import { drawBlock } from "../../src/page/entries/block";
import { imageSize } from "../../src/common/image";

function png(width: number, height: number): string {
  const bytes = Buffer.alloc(40);
  bytes.write("\x89PNG\r\n\x1a\n", 0, "latin1");
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return bytes.toString("base64");
}

test("the type and size of a picture are read from its bytes", () => {
  assert.deepEqual(imageSize(png(3, 5)), { mime: "image/png", width: 3, height: 5 });
  const gif = Buffer.from("GIF89a\x07\x00\x09\x00\x00\x00", "latin1").toString("base64");
  assert.deepEqual(imageSize(gif), { mime: "image/gif", width: 7, height: 9 });
  const jpeg = Buffer.from("ffd8ffe000040000ffc0000b080010002003000000000000", "hex").toString(
    "base64",
  );
  assert.deepEqual(imageSize(jpeg), { mime: "image/jpeg", width: 32, height: 16 });
});

test("what is no picture, or too large a one, is not shown", () => {
  const svg = Buffer.from("<svg onload=alert(1)>").toString("base64");
  for (const data of [svg, "", "%%%", png(50_000, 50_000)]) {
    assert.doesNotMatch(
      JSON.stringify(drawBlock({ kind: "image", mime: "image/png", data })),
      /"img"/,
    );
  }
  assert.match(
    JSON.stringify(drawBlock({ kind: "image", mime: "image/svg+xml", data: png(4, 4) })),
    /data:image\/png/,
  );
});
