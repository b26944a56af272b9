/** Builds all routes that are neither operations nor streams: public pages, probes and well-known documents. */
import type { Manifest } from "../../platform/composition/manifest.ts";
import type { ServedRoute } from "../calls/restHttp.ts";
import type { CallWrapper } from "../calls/wrapper.ts";
import type { Route } from "../host/router.ts";
import { createProbeRoutes, type ProbeOptions } from "./probes.ts";
import { createPublicPageRoutes, type PublicPageOptions } from "./publicPage.ts";
import { createWellKnownRoutes, type WellKnownOptions } from "./wellKnown.ts";

export interface PageServiceOptions extends ProbeOptions, PublicPageOptions, WellKnownOptions {}

export interface PageService {
  readonly routes: readonly Route[];
  /** The routes of public pages, whose answers show limits of their own. */
  publicRoutes(calls: Pick<CallWrapper, "refuse">): readonly ServedRoute[];
  readonly manifest: Manifest;
}

export function createPageService(options: PageServiceOptions): PageService {
  const publicPages = createPublicPageRoutes(options);
  return {
    routes: [...createWellKnownRoutes(options), ...publicPages.assets, ...createProbeRoutes(options)],
    publicRoutes: publicPages.routes,
    manifest: { name: "pages", close: publicPages.close },
  };
}
