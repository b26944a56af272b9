/** `npm run build:client`: writes `dist/client.d.ts`, the types of the tRPC router for clients in other projects. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, relative } from "node:path";
import { clientTypesFile, toClientTypes } from "./clientTypes.ts";

mkdirSync(dirname(clientTypesFile), { recursive: true });
writeFileSync(clientTypesFile, toClientTypes());
console.log(`wrote ${relative(process.cwd(), clientTypesFile)}`);
