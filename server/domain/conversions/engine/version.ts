/**
 * Version of the engine: a number that changes with its behaviour, and the versions of the libraries that read and write.
 * A test compares the libraries with package.json.
 */
const engineRevision = 4;

export const libraryVersions = {
  docx: "9.15.2",
  mammoth: "1.13.0",
  "mdast-util-math": "3.0.0",
  "micromark-extension-math": "3.1.0",
  pdfmake: "0.3.11",
  unpdf: "1.7.0",
  "rehype-raw": "7.0.0",
  "rehype-remark": "10.0.1",
  "rehype-sanitize": "6.0.0",
  "remark-gfm": "4.0.1",
  "remark-parse": "11.0.0",
  "remark-rehype": "11.1.2",
  "remark-stringify": "11.0.0",
  temml: "0.13.5",
} as const;

export const engineVersion = [
  String(engineRevision),
  ...Object.entries(libraryVersions).map(([name, version]) => `${name}@${version}`),
].join(" ");
