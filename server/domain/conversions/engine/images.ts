/** Images reads pictures from `data:` URLs. No other picture is ever loaded: a conversion opens no address and no file. */

export interface EmbeddedImage {
  readonly format: "png" | "jpg";
  readonly bytes: Buffer;
  readonly width: number;
  readonly height: number;
}

/** Media types of pictures that stay in a document as `data:` URLs. */
export const embeddableTypes: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif"]);

const dataUrl = /^data:(image\/(?:png|jpeg));base64,([A-Za-z0-9+/]+={0,2})$/;

/** Returns undefined if the URL is not a PNG or JPEG picture in itself, or if the picture is damaged. */
export function readImage(url: string): EmbeddedImage | undefined {
  const [, type, base64 = ""] = dataUrl.exec(url) ?? [];
  if (type === undefined) return undefined;
  const bytes = Buffer.from(base64, "base64");
  const size = type === "image/png" ? readPngSize(bytes) : readJpegSize(bytes);
  if (size === undefined || size.width === 0 || size.height === 0) return undefined;
  return { format: type === "image/png" ? "png" : "jpg", bytes, ...size };
}

interface Size {
  readonly width: number;
  readonly height: number;
}

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function readPngSize(bytes: Buffer): Size | undefined {
  if (bytes.byteLength < 24 || !bytes.subarray(0, 8).equals(pngSignature)) return undefined;
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

/** Walks the segments of a JPEG file to its frame header, which has the size. */
function readJpegSize(bytes: Buffer): Size | undefined {
  if (bytes.byteLength < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined;
  for (let at = 2; at + 9 <= bytes.byteLength; ) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}
