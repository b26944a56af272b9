/** SandboxRefusal replaces functions of Node's modules by functions that refuse the call. */

export class SandboxRefusal extends Error {
  override readonly name = "SandboxRefusal";
}

export type Target = Record<string, unknown>;
export type AnyFunction = (...input: unknown[]) => unknown;

/** A normal function, so that a library can still name it as the parent of a class. */
export function refuse(name: string): AnyFunction {
  return function refused(): never {
    throw new SandboxRefusal(`A conversion may not use ${name}.`);
  };
}

/** The constructor of a prototype names its class, and both are replaced at other places. */
export function isRefusable(name: string): boolean {
  return name !== "constructor";
}

/** Replaces a function. Members that are no functions, or that the owner does not have, stay as they are. */
export function replaceMember(owner: Target, name: string, toReplacement: (original: AnyFunction) => unknown): void {
  const found = Object.getOwnPropertyDescriptor(owner, name);
  if (found === undefined || typeof found.value !== "function") return;
  Object.defineProperty(owner, name, { ...found, value: toReplacement(found.value as AnyFunction) });
}
