import { describe, expect, test } from "vitest";
import { AppError } from "../../../api/schema/error.ts";
import { createPublicAddresses } from "./publicAddress.ts";
import { createCheckPublicUrl } from "./publicUrl.ts";
import type { Resolve } from "./resolver.ts";

const zone: Readonly<Record<string, readonly string[]>> = {
  "hooks.example.com": ["93.184.215.14"],
  "two.example.com": ["93.184.215.14", "2606:4700:4700::1111"],
  "xn--bcher-kva.example": ["93.184.215.15"],
  "mixed.example.com": ["93.184.215.14", "10.0.0.1"],
  "mapped.example.com": ["::ffff:93.184.215.14"],
  "loop.example.com": ["127.0.0.1"],
  localhost: ["127.0.0.1", "::1"],
  "half.example.com": ["127.0.0.1", "10.0.0.1"],
  "10.0.0.1.example.com": ["93.184.215.14"],
};
const asked: string[] = [];
const resolve: Resolve = async (hostname) => {
  asked.push(hostname);
  return zone[hostname] ?? [];
};
const createCheck = (allow: readonly string[] = []) =>
  createCheckPublicUrl({ addresses: createPublicAddresses(allow), resolve, maxLength: 2048, resolveTimeoutMs: 1000 });
const check = createCheck();

async function codeOf(text: string, using = check): Promise<string> {
  const error = await using(text).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof AppError)) return "accepted";
  expect(error.facts.errors).toEqual([{ pointer: "/url", code: error.code, message: error.message }]);
  return error.code;
}

describe("publicUrl", () => {
  test.each([
    ["https://hooks.example.com/a?b=c", "hooks.example.com", 443, ["93.184.215.14"]],
    ["https://hooks.example.com:8443/", "hooks.example.com", 8443, ["93.184.215.14"]],
    ["HTTPS://HOOKS.EXAMPLE.COM", "hooks.example.com", 443, ["93.184.215.14"]],
    ["https://hooks.example.com./", "hooks.example.com", 443, ["93.184.215.14"]],
    ["https://two.example.com/#fragment", "two.example.com", 443, ["93.184.215.14", "2606:4700:4700::1111"]],
    ["https://bücher.example/", "xn--bcher-kva.example", 443, ["93.184.215.15"]],
    ["https://8.8.8.8/", "8.8.8.8", 443, ["8.8.8.8"]],
    ["https://[2606:4700:4700::1111]:8443/", "2606:4700:4700::1111", 8443, ["2606:4700:4700::1111"]],
    ["https://10.0.0.1.example.com/", "10.0.0.1.example.com", 443, ["93.184.215.14"]],
  ])("[OB1] %s is accepted and returns the addresses to dial", async (text, hostname, port, addresses) => {
    expect(await check(text)).toMatchObject({ hostname, port, addresses });
  });

  test.each([
    ["http://hooks.example.com/", "url_not_https"],
    ["ftp://hooks.example.com/", "url_not_https"],
    ["javascript:alert(1)", "url_not_https"],
    ["data:text/plain,x", "url_not_https"],
    ["file:///etc/passwd", "url_not_https"],
    ["", "validation_failed"],
    ["hooks.example.com", "validation_failed"],
    ["//hooks.example.com/", "validation_failed"],
    ["https://", "validation_failed"],
    ["https://hooks.example.com:99999/", "validation_failed"],
    [" https://hooks.example.com/", "validation_failed"],
    ["https://hooks.exa\nmple.com/", "validation_failed"],
    ["https://user@hooks.example.com/", "validation_failed"],
    ["https://user:word@hooks.example.com/", "validation_failed"],
    ["https://:word@hooks.example.com/", "validation_failed"],
    [`https://hooks.example.com/${"a".repeat(2048)}`, "validation_failed"],
    [`https://hooks.example.com/${"ü".repeat(500)}`, "validation_failed"],
    ["https://missing.example.com/", "url_unresolvable"],
    ["https://mixed.example.com/", "url_not_public"],
    ["https://mapped.example.com/", "url_not_public"],
    ["https://loop.example.com/", "url_not_public"],
    ["https://localhost/", "url_not_public"],
    ["https://LOCALHOST./", "url_not_public"],
    ["https://127.0.0.1/", "url_not_public"],
    ["https://hooks.example.com@127.0.0.1/", "validation_failed"],
    ["https://[::1]/", "url_not_public"],
    ["https://[::ffff:127.0.0.1]/", "url_not_public"],
    ["https://[::ffff:8.8.8.8]/", "url_not_public"],
    ["https://[64:ff9b::808:808]/", "url_not_public"],
    ["https://hooks.example.com:22/", "url_not_public"],
    ["https://hooks.example.com:6000/", "url_not_public"],
    ["https://hooks.example.com:6379/", "url_not_public"],
    ["https://hooks.example.com:0/", "url_not_public"],
    ["https://8.8.8.8:27017/", "url_not_public"],
  ])("[OB1] %j is refused with %s", async (text, code) => {
    expect(await codeOf(text)).toBe(code);
  });

  test.each([
    ["https://hooks.example.com\\@10.0.0.1/", "a backslash in place of a slash"],
    ["https://127.0.0.1\\@hooks.example.com/", "a backslash before a user name"],
    ["https:\\\\hooks.example.com/", "backslashes after the scheme"],
    ["https://hooks.example.com/a\\b", "a backslash in the path"],
    ["https://hooks.example.com/?a=\\b", "a backslash in the query"],
    ["https://hooks.exam\tple.com/", "a tab inside"],
    ["https://hooks.example.com/a\r\nb", "a line break inside"],
    ["https://@hooks.example.com/", "an empty user name"],
    ["https://:@hooks.example.com/", "an empty user name and password"],
    ["https://10.0.0.1@hooks.example.com/", "an address as user name"],
    ["https:hooks.example.com/", "no slash"],
    ["https:/hooks.example.com/", "one slash"],
    ["https:///hooks.example.com/", "three slashes"],
    ["https://ｈooks.example.com/", "a full-width letter"],
    ["https://１２７.０.０.１/", "full-width digits"],
    ["https://hooks。example。com/", "ideographic full stops"],
    ["https://hooks.exam\u00adple.com/", "a soft hyphen"],
    ["https://ho%6fks.example.com/", "a percent-encoded letter in the host"],
    ["https://%31%32%37.0.0.1/", "percent-encoded digits in the host"],
    ["https://hooks.example.com%2f@10.0.0.1/", "a percent-encoded slash in the host"],
    ["https://[fe80::1%25eth0]/", "a zone id"],
    ["https://[fe80::1%eth0]/", "a zone id that is not encoded"],
    ["https://134744072/", "an address as one number"],
    ["https://0x08.8.8.8/", "an address in hexadecimal"],
    ["https://010.8.8.8/", "an address in octal"],
    ["https://8.8.2056/", "an address of three parts"],
    ["https://8.8.8.8./", "an address with a final dot"],
    ["https://hooks.example.com/\ud800", "half a surrogate pair"],
  ])("[OB11] %j is refused, because parsers differ on %s", async (text) => {
    expect(await codeOf(text)).toBe("validation_failed");
    expect(await codeOf(text, createCheck(["0.0.0.0/0", "::/0"]))).toBe("validation_failed");
  });

  test.each([
    ["HTTPS://Hooks.Example.COM", "https://hooks.example.com/"],
    ["https://bücher.example:443/", "https://xn--bcher-kva.example/"],
    ["https://Bu\u0308cher.example/", "https://xn--bcher-kva.example/"],
    ["https://[2606:4700:4700:0:0:0:0:1111]/a/../b", "https://[2606:4700:4700::1111]/b"],
    ["https://8.8.8.8:8443/ü?q=@a%5c", "https://8.8.8.8:8443/%C3%BC?q=@a%5c"],
  ])("[OB12] %s is normalised to %s", async (text, normalised) => {
    expect((await check(text)).url.href).toBe(normalised);
  });

  test("[OB5] an allowed address passes as a literal, by name and on any port", async () => {
    const allowing = createCheck(["127.0.0.0/8"]);
    for (const text of ["https://127.0.0.1/", "https://127.0.0.1:6379/", "https://loop.example.com:22/"]) {
      expect([text, await codeOf(text, allowing)]).toEqual([text, "accepted"]);
    }
    for (const text of ["https://localhost/", "https://half.example.com/", "https://hooks.example.com:22/", "https://[::1]/"]) {
      expect([text, await codeOf(text, allowing)]).toEqual([text, "url_not_public"]);
    }
    expect(await codeOf("http://127.0.0.1/", allowing)).toBe("url_not_https");
  });

  test("[OB3] a name is looked up once for each check, an address never", async () => {
    asked.length = 0;
    await check("https://two.example.com/");
    await check("https://8.8.8.8/");
    expect(asked).toEqual(["two.example.com"]);
  });

  test("[OB1] a name server that does not answer makes the url unresolvable", async () => {
    const silent: Resolve = (_hostname, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
    const addresses = createPublicAddresses();
    const waiting = createCheckPublicUrl({ addresses, resolve: silent, maxLength: 2048, resolveTimeoutMs: 20 });
    expect(await codeOf("https://hooks.example.com/", waiting)).toBe("url_unresolvable");
    const caller = new AbortController();
    const pending = createCheckPublicUrl({ addresses, resolve: silent, maxLength: 2048, resolveTimeoutMs: 60_000 })(
      "https://hooks.example.com/",
      caller.signal,
    );
    caller.abort(new Error("enough"));
    await expect(pending).rejects.toThrow("enough");
  });
});
