import { expect, test } from "vitest";
import { othersOf, stylesOf } from "./styles.ts";

test("style profiles are texts or objects with a text, in the order of their names", () => {
  const settings = { styleProfiles: { house: { content: "Short sentences.", tone: "plain" }, brief: "One paragraph." }, tone: "plain" };
  expect(stylesOf(settings)).toEqual([
    { name: "brief", text: "One paragraph." },
    { name: "house", text: "Short sentences." },
  ]);
  expect(othersOf(settings)).toEqual({ tone: "plain" });
});

test("settings that are no style profiles are shown as they are", () => {
  expect(stylesOf(undefined)).toEqual([]);
  expect(othersOf(undefined)).toEqual({});
  for (const styleProfiles of ["text", ["text"], 7, null]) {
    expect(stylesOf({ styleProfiles })).toEqual([]);
    expect(othersOf({ styleProfiles })).toEqual({ styleProfiles });
  }
  const mixed = { styleProfiles: { house: "Short.", broken: { text: "Long." } } };
  expect(stylesOf(mixed)).toEqual([{ name: "house", text: "Short." }]);
  expect(othersOf(mixed)).toEqual({ styleProfiles: { broken: { text: "Long." } } });
});
