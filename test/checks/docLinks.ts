/** Follows the links between the pages of the repository. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The targets of the relative links of a Markdown page, without their anchors. */
export function readLinks(text: string): string[] {
  return [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, target = ""]) => target);
}

/** Returns every docs/**\/*.md below `root` that no chain of links from README.md reaches. */
export function findUnreachablePages(root: string): string[] {
  const reached = new Set(["README.md"]);
  // The loop also visits the pages that it adds.
  for (const page of reached) {
    for (const target of readLinks(readFileSync(join(root, page), "utf8"))) {
      const linked = join(page, "..", target);
      if (linked.endsWith(".md")) reached.add(linked);
    }
  }
  return readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .map((file) => `docs/${file}`)
    .filter((file) => file.endsWith(".md") && !reached.has(file))
    .sort();
}
