/**
 * ProgramFile finds the built program of a thread or a child process.
 *
 * The build puts every program beside the server. Code that runs from its sources, as in tests, starts the programs of
 * the build too, so a thread of a test does not compile its sources again.
 */

/** `name`: a name of `entryPoints` in `esbuild.config.mjs`. */
export function toProgramFile(name: string): URL {
  const folder = import.meta.url.endsWith(".ts") ? "../../../dist" : ".";
  return new URL(`${folder}/${name}.js`, import.meta.url);
}
