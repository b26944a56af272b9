/**
 * `npm run check:imports` checks the import table of docs/architecture.md. It also fails if fewer modules were read than
 * the repository has.
 */
import { cruiseProject } from "./cruise.ts";

/** A smaller number means that the tool did not read the repository. */
const minModules = 150;

const { modules, violations, folderCircles } = await cruiseProject(process.cwd());
for (const { rule, from, to } of violations) console.error(`  ${rule}: ${from} → ${to}`);
for (const circle of folderCircles) console.error(`  folders import each other: ${circle.join(", ")}`);
if (modules < minModules) console.error(`  only ${modules} modules were read, at least ${minModules} are expected`);
if (violations.length > 0 || folderCircles.length > 0 || modules < minModules) process.exitCode = 1;
else console.log(`${modules} modules keep the import rules`);
