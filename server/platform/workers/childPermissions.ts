/**
 * ChildPermissions names the options of Node's permission model for a child process that may only read some folders.
 *
 * Node then refuses everything else below JavaScript: other files, writing, processes and native addons. Node 20 has the
 * model as an experiment. It does not cover the network, and a child needs one thread to notice the end of its parent.
 */

/** `readable`: folders with everything in them, and files. */
export function toPermissionFlags(readable: readonly string[]): readonly string[] {
  const model = process.allowedNodeEnvironmentFlags.has("--permission") ? "--permission" : "--experimental-permission";
  return ["--no-warnings", model, "--allow-worker", ...readable.map((path) => `--allow-fs-read=${path}`)];
}
