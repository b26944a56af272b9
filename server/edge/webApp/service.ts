/** Builds the routes of the web app from the folder `dist/web`. A folder that cannot be served is logged; the API works without it. */
import { fileURLToPath } from "node:url";
import type { Logger } from "pino";
import type { Route } from "../host/router.ts";
import { createWebAppRoutes } from "./webApp.ts";
import { readWebFiles, type WebFiles } from "./webFiles.ts";

/** The build puts the app beside the server. Code that runs from its sources serves the same build. */
export const builtWebFolder = fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "../../../dist/web" : "web", import.meta.url));

export interface WebAppOptions {
  readonly folder: string;
  readonly log: Pick<Logger, "warn">;
}

function readOrWarn({ folder, log }: WebAppOptions): WebFiles | undefined {
  try {
    const files = readWebFiles(folder);
    if (files === undefined) log.warn({ folder }, 'the web app is not built; run "npm run build" and start again');
    return files;
  } catch (err) {
    log.warn({ err, folder }, 'the web app cannot be read; remove its folder, run "npm run build" and start again');
    return undefined;
  }
}

export function createWebApp(options: WebAppOptions): { readonly routes: readonly Route[] } {
  return { routes: createWebAppRoutes(readOrWarn(options)) };
}
