/**
 * PageAsset serves the style or script of a page as one file. Its name contains its hash, so caches keep it for ever, and
 * a page names exactly the file that it was written for.
 */
import { createHash } from "node:crypto";
import type { HttpReply } from "../host/port.ts";
import type { Route } from "../host/router.ts";

const mediaTypes = { css: "text/css; charset=utf-8", js: "text/javascript; charset=utf-8" } as const;

export interface PageAsset {
  /** Absolute path below the root of the server. */
  readonly path: `/assets/${string}`;
  /** Value for `integrity`, and with quotes a source expression of a content security policy. */
  readonly integrity: string;
  readonly route: Route;
}

export function createPageAsset(name: string, extension: keyof typeof mediaTypes, body: string): PageAsset {
  const hash = createHash("sha256").update(body).digest();
  const path = `/assets/${name}-${hash.toString("hex").slice(0, 16)}.${extension}` as const;
  const reply: HttpReply = {
    status: 200,
    headers: {
      "content-type": mediaTypes[extension],
      "cache-control": "public, max-age=31536000, immutable",
      "cross-origin-resource-policy": "cross-origin",
    },
    body,
  };
  return {
    path,
    integrity: `sha256-${hash.toString("base64")}`,
    route: { method: "GET", path, publicCors: true, handle: () => reply },
  };
}
