/** `npm run check:imports`: checks the import table of docs/architecture.md and the number of modules that were read. */
import { cruiseProject } from "./cruise.ts";

/** A smaller number means that the tool found no files, not that the project shrank. */
const leastModules = 150;

const { modules, violations, folderCircles } = await cruiseProject(process.cwd());
for (const { rule, from, to } of violations) console.error(`  ${rule}: ${from} → ${to}`);
for (const circle of folderCircles) console.error(`  folders import each other: ${circle.join(", ")}`);
if (modules < leastModules) console.error(`  only ${modules} modules were read, at least ${leastModules} are expected`);
if (violations.length > 0 || folderCircles.length > 0 || modules < leastModules) process.exitCode = 1;
else console.log(`${modules} modules keep the import rules`);
