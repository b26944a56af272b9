/** `npm run docs:architecture`: draws docs/architecture.mmd as docs/architecture.svg. */
import { readFileSync, writeFileSync } from "node:fs";
import { renderDiagram } from "./machineDiagram.ts";

writeFileSync("docs/architecture.svg", renderDiagram(readFileSync("docs/architecture.mmd", "utf8")));
