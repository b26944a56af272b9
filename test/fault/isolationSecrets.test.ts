/** Tests on both stores that secrets are shown only once. */
import { expect, it } from "vitest";
import { createSecretScan } from "../support/secretScan.ts";
import { secrets } from "./rig/secrets.ts";

it.each(["E", "R"] as const)("[FT33] no secret is in the store, the log at its lowest level or another answer (%s)", async (mode) => {
  const { outcome, told } = await secrets.play(mode, "short");
  expect({ ...outcome, told }).toMatchObject({ bad: 0, told: [] });
});

it("[FT33] the secret scan finds every encoding at any offset, and nothing with only the same start", () => {
  const secret = "whatNobodyMaySee+/09";
  const scan = createSecretScan();
  scan.add("it", secret);
  const noise = Buffer.from("whatNobodyMaySeeAnd");
  const forms = [secret, Buffer.from(secret).toString("hex"), Buffer.from(secret).toString("hex").toUpperCase()];
  for (const before of ["", "a", "ab", "abc"]) {
    const around = Buffer.from(`${before}${secret} and more`);
    forms.push(around.toString("base64"), around.toString("base64url"));
  }
  for (const form of forms) expect(scan.find(Buffer.concat([noise, Buffer.from(form), noise])), form).toEqual(["it"]);
  expect(scan.find(Buffer.concat([noise, noise]))).toEqual([]);
});
