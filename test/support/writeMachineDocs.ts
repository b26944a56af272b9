/** `npm run docs:machines`: writes `docs/machines`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { machineDocsFolder, toMachineDocs } from "./machineDocs.ts";

mkdirSync(machineDocsFolder, { recursive: true });
for (const [file, content] of toMachineDocs()) writeFileSync(join(machineDocsFolder, file), content);
