/** Creates elements. Text is always inserted as text, never as HTML. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  properties: Readonly<Record<string, string>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const created = document.createElement(name);
  for (const [property, value] of Object.entries(properties)) created.setAttribute(property, value);
  created.append(...children);
  return created;
}

/** Creates an icon of one path on a grid of 16 by 16. It is decoration: the control around it has a name. */
export function icon(path: string): SVGSVGElement {
  const created = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of [
    ["viewBox", "0 0 16 16"],
    ["fill", "none"],
    ["stroke", "currentColor"],
    ["stroke-width", "1.4"],
    ["stroke-linecap", "round"],
    ["stroke-linejoin", "round"],
    ["aria-hidden", "true"],
  ] as const) {
    created.setAttribute(name, value);
  }
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("d", path);
  created.append(line);
  return created;
}
