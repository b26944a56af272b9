import type { networkInterfaces } from "node:os";
import { expect, test } from "vitest";
import { toLinkAddress } from "./linkAddress.ts";

const at = (address: string, internal = false) =>
  ({ address, internal }) as NonNullable<ReturnType<typeof networkInterfaces>[string]>[number];

test("[OP34] links name the listening address, or the first private one when listening on all", () => {
  const interfaces = {
    lo: [at("127.0.0.1", true), at("::1", true)],
    wan: [at("203.0.113.7"), at("2001:db8::7"), at("fe80::1")],
    lan: [at("fd00::5"), at("192.168.1.5")],
    docker0: [at("172.17.0.1")],
  };
  const origin = (...given: Parameters<typeof toLinkAddress>) => toLinkAddress(...given).origin;
  for (const host of ["0.0.0.0", "::"])
    expect(toLinkAddress({ host, port: 8787 }, interfaces)).toEqual({ origin: "http://192.168.1.5:8787" });
  // A server at 0.0.0.0 listens on IPv4 only.
  expect(origin({ host: "0.0.0.0", port: 1 }, { lan: [at("fd00::5")] })).toBe("http://127.0.0.1:1");
  expect(origin({ host: "::", port: 1 }, { lan: [at("fd00::5")] })).toBe("http://[fd00::5]:1");
  expect(origin({ host: "0.0.0.0", port: 1 }, { lo: interfaces.lo, wan: interfaces.wan })).toBe("http://127.0.0.1:1");
  expect(origin({ host: "10.0.0.9", port: 80 }, interfaces)).toBe("http://10.0.0.9:80");
  expect(origin({ host: "::1", port: 80 }, interfaces)).toBe("http://[::1]:80");
  expect(origin({ host: "nas", port: 80 }, interfaces)).toBe("http://nas:80");
});

test("[OP34] when listening on all without a private address, links say 127.0.0.1 with a warning", () => {
  const interfaces = { lo: [at("127.0.0.1", true)], wan: [at("203.0.113.7"), at("192.0.2.2"), at("fe80::1")] };
  for (const host of ["0.0.0.0", "::"]) {
    expect(toLinkAddress({ host, port: 8787 }, interfaces)).toEqual({
      origin: "http://127.0.0.1:8787",
      warning: `HOST=${host}, and this machine has no private address: links say 127.0.0.1 and open on this machine only. Set BASE_URL.`,
    });
  }
  for (const host of ["127.0.0.1", "192.168.1.5", "nas"])
    expect(toLinkAddress({ host, port: 1 }, interfaces)).not.toHaveProperty("warning");
});
