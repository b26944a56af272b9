/** `npm run check:imports`: the import table of docs/architecture.md holds, over at least as many modules as the house has. */
import { cruiseProject } from "./cruise.ts";

/** Fewer than this means that the tool read nothing, not that the house shrank. */
const leastModules = 150;

const { modules, violations, folderCircles } = await cruiseProject(process.cwd());
for (const { rule, from, to } of violations) console.error(`  ${rule}: ${from} → ${to}`);
for (const circle of folderCircles) console.error(`  folders import each other: ${circle.join(", ")}`);
if (modules < leastModules) console.error(`  only ${modules} modules were read, at least ${leastModules} are expected`);
if (violations.length > 0 || folderCircles.length > 0 || modules < leastModules) process.exitCode = 1;
else console.log(`${modules} modules keep the import rules`);
