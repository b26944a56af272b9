/** The guides show code that the tests run. `-u` writes the present code into them. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const page = join(root, "docs/guides/addAResource.md");
const examples = join(root, "test/example");

test("[API77] the guide to add a resource shows each file of its example as it is", async () => {
  const files = readdirSync(examples);
  const shown = readFileSync(page, "utf8").replace(/<!-- (\w+\.ts) -->\n```ts\n[\s\S]*?```/g, (_block, file: string) => {
    files.splice(files.indexOf(file), 1);
    return `<!-- ${file} -->\n\`\`\`ts\n${readFileSync(join(examples, file), "utf8")}\`\`\``;
  });
  expect(files).toEqual([]);
  await expect(shown).toMatchFileSnapshot(page);
});
