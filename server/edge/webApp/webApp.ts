/**
 * WebApp serves the web app: its page at `/` and at the addresses of its screens, and its files below `/assets/`.
 *
 * All answers come from memory and need neither a credential nor the store, so the app also loads while the store is away.
 * Files have the hash of their content in their name and are kept by browsers for a year. The page is revalidated for each
 * visit, so a new build shows at the next one. The policy of the page allows only what this server serves.
 */
import { extname } from "node:path";
import { AppError } from "../../../api/schema/error.ts";
import { pickCoding } from "../calls/mediaTypes.ts";
import { toPieceStream } from "../calls/pieceStream.ts";
import { hasTag } from "../host/entityTag.ts";
import type { HttpReply, HttpRequest, StreamedBody } from "../host/port.ts";
import type { Route } from "../host/router.ts";
import type { WebFile, WebFiles } from "./webFiles.ts";

/** Paths of the app's screens. No operation of the API begins with one of them. */
export const screenPaths = ["/", "/sign-in", "/setup", "/account", "/w/*"] as const;

/**
 * `connect-src 'self'` includes WebSockets of the same origin. Styles may be inline, because the editor and the menus
 * position their parts with style attributes and elements.
 */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: https:",
  "font-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "object-src 'none'",
].join("; ");

const unusedDevices = ["camera", "microphone", "geolocation", "payment", "usb", "midi", "accelerometer", "gyroscope", "magnetometer"];

const pageHeaders = {
  "cache-control": "no-cache",
  "content-security-policy": contentSecurityPolicy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": unusedDevices.map((name) => `${name}=()`).join(", "),
  "referrer-policy": "no-referrer",
} as const;

const assetHeaders = {
  "cache-control": "public, max-age=31536000, immutable",
  "cross-origin-resource-policy": "same-origin",
} as const;

const mediaTypes: ReadonlyMap<string, string> = new Map([
  [".avif", "image/avif"],
  [".css", "text/css; charset=utf-8"],
  [".gif", "image/gif"],
  [".html", "text/html; charset=utf-8"],
  [".ico", "image/x-icon"],
  [".jpg", "image/jpeg"],
  [".js", "text/javascript; charset=utf-8"],
  [".json", "application/json"],
  [".png", "image/png"],
  [".svg", "image/svg+xml"],
  [".ttf", "font/ttf"],
  [".txt", "text/plain; charset=utf-8"],
  [".wasm", "application/wasm"],
  [".webp", "image/webp"],
  [".woff", "font/woff"],
  [".woff2", "font/woff2"],
]);

/**
 * Larger files are sent in pieces. Otherwise the host would copy what a slow client does not take, and strangers could fill
 * the memory with copies.
 */
const maxPieceBytes = 64 * 1024;

function toBody(bytes: Uint8Array): Uint8Array | StreamedBody {
  if (bytes.byteLength <= maxPieceBytes) return bytes;
  return toPieceStream({ size: bytes.byteLength, read: async (from) => bytes.subarray(from, from + maxPieceBytes) });
}

type Answer = (request: HttpRequest) => HttpReply;

/** Makes the headers of a file once. Each compressed form has an entity tag of its own, because its bytes differ. */
function toAnswer({ bytes, compressed, tag }: WebFile, contentType: string, headers: HttpReply["headers"]): Answer {
  const codings = [...compressed.keys()];
  const toForm = (etag: string, encoding: HttpReply["headers"], form: Uint8Array) => {
    const unchanged = { ...headers, ...(codings.length === 0 ? {} : { vary: "accept-encoding" }), etag };
    return { etag, unchanged, whole: { ...unchanged, ...encoding, "content-type": contentType }, form };
  };
  const identity = toForm(`"${tag}"`, {}, bytes);
  const encoded = new Map(
    [...compressed].map(([coding, form]) => [coding, toForm(`"${tag}-${coding}"`, { "content-encoding": coding }, form)]),
  );
  return (request) => {
    const coding = pickCoding(request.header("accept-encoding"), codings);
    const { etag, unchanged, whole, form } = (coding === "identity" ? undefined : encoded.get(coding)) ?? identity;
    if (hasTag(request.header("if-none-match"), etag)) return { status: 304, headers: unchanged };
    return { status: 200, headers: whole, body: toBody(form) };
  };
}

/** Without a build the addresses of the app answer 404 and say how to build it; the API works. */
export function createWebAppRoutes(files: WebFiles | undefined): readonly Route[] {
  const page = files === undefined ? refuseUnbuilt : toAnswer(files.index, "text/html; charset=utf-8", pageHeaders);
  const assets = new Map(
    [...(files?.assets ?? [])].map(([name, file]) => [
      name,
      toAnswer(file, mediaTypes.get(extname(name)) ?? "application/octet-stream", assetHeaders),
    ]),
  );
  return [
    ...screenPaths.map((path): Route => ({ method: "GET", path, handle: page })),
    {
      method: "GET",
      path: "/assets/{name}",
      handle(request, { name = "" }) {
        const answer = assets.get(name);
        if (answer === undefined) throw noAsset();
        return answer(request);
      },
    },
  ];
}

function refuseUnbuilt(): never {
  throw new AppError(
    "not_found",
    'The web app is not built. Run "npm run build" in the folder of the server and start the server again; "npm start" does both. The API works.',
  );
}

function noAsset(): AppError {
  return new AppError(
    "not_found",
    "The web app has no file of this name. If an open page asked for it, reload the page: the app was built again since the page was loaded.",
  );
}
