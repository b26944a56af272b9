/** Language names of code fences by the parser that reads them (api decisions, §10). All other languages are skipped. */
const namesOfParser: Readonly<Record<string, readonly string[]>> = {
  javascript: ["js", "javascript", "mjs", "cjs", "node", "jsx"],
  typescript: ["ts", "typescript", "mts", "cts"],
  tsx: ["tsx"],
  json: ["json"],
  jsonc: ["jsonc", "json5"],
  yaml: ["yaml", "yml"],
  toml: ["toml"],
  css: ["css"],
  python: ["python", "py", "python3"],
  bash: ["bash", "sh", "shell", "zsh"],
  sql: ["sql", "postgres", "postgresql", "pgsql"],
  go: ["go", "golang"],
  rust: ["rust", "rs"],
  java: ["java"],
  ruby: ["ruby", "rb"],
  php: ["php"],
  cpp: ["cpp", "c++", "cc", "cxx", "hpp"],
  "c-sharp": ["csharp", "c#", "cs"],
};

export const parserOfLanguage: ReadonlyMap<string, string> = new Map(
  Object.entries(namesOfParser).flatMap(([parser, names]) => names.map((name): [string, string] => [name, parser])),
);
