/**
 * Makes the utility classes that the app uses, with Tailwind's own compiler.
 *
 * The plugins of Tailwind search the sources with a native program. This one takes every word of the sources as a possible
 * class, which the compiler ignores if it is none, so the build needs no native program (docs/decisions.md).
 */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { compile } from "tailwindcss";
import type { Plugin } from "vite";

const { resolve } = createRequire(import.meta.url);

/** `sources` is the folder whose files name classes. Style sheets that import Tailwind get them. */
export function tailwind(sources: string): Plugin {
  return {
    name: "tailwind",
    enforce: "pre",
    async transform(css, id) {
      if (!id.endsWith(".css") || !css.includes('@import "tailwindcss"')) return undefined;
      const { build } = await compile(css, {
        base: dirname(id),
        async loadStylesheet(name, base) {
          const path = resolve(name === "tailwindcss" ? "tailwindcss/index.css" : name, { paths: [base] });
          return { path, base: dirname(path), content: readFileSync(path, "utf8") };
        },
      });
      const words = new Set<string>();
      for (const entry of readdirSync(sources, { recursive: true, withFileTypes: true })) {
        if (!/\.tsx?$/.test(entry.name) || entry.name.includes(".test.")) continue;
        const path = join(entry.parentPath, entry.name);
        this.addWatchFile(path);
        for (const [word] of readFileSync(path, "utf8").matchAll(/[^\s"'`]+/g)) words.add(word);
      }
      return { code: build([...words]), map: null };
    },
  };
}
