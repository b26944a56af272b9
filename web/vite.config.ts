/** Builds the web app into `dist/web`, which the server serves (docs/webApp.md). */
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { tailwind } from "./tailwind.ts";

const root = import.meta.dirname;

export default defineConfig({
  root,
  publicDir: "public",
  plugins: [react(), tailwind(`${root}/src`)],
  build: {
    outDir: "../dist/web",
    // `web/build.mjs` decides what of earlier builds stays.
    emptyOutDir: false,
    target: "es2023",
    // Inline data addresses would need exceptions of the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: false,
  },
  server: {
    // `npm run dev:web` serves the app from its sources and sends the paths of the API that the app uses to a server on port 8787.
    proxy: Object.fromEntries(
      ["/auth", "/trpc", "/p", "/collab", "/articles", "/runs", "/workspaces", "/conversions", "/jobs", "/openapi.json", "/reference"].map(
        (path) => [path, { target: "http://127.0.0.1:8787", ws: path === "/collab", changeOrigin: true }],
      ),
    ),
  },
});
