/** The Hocuspocus server with a store that keeps each document as one file. Settings: PORT, DATA_DIR. */
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Database } from "@hocuspocus/extension-database";
import { Server } from "@hocuspocus/server";

const fileOf = (documentName) => join(process.env.DATA_DIR, encodeURIComponent(documentName));

const server = new Server({
  port: Number(process.env.PORT),
  address: "127.0.0.1",
  quiet: true,
  extensions: [
    new Database({
      fetch: ({ documentName }) => readFile(fileOf(documentName)).catch(() => null),
      async store({ documentName, state }) {
        const file = fileOf(documentName);
        await writeFile(`${file}.new`, state);
        await rename(`${file}.new`, file);
      },
    }),
  ],
});
await server.listen();
process.send?.("ready");
