import { describe, expect, test } from "vitest";
import { addressesInHosts } from "./resolver.ts";

const hosts = `# local names
127.0.0.1	localhost loopback  # the usual
::1 localhost
  10.0.0.5   Wiki.internal wiki
#10.0.0.6 gone
fe80::1%lo0 localhost
`;

describe("resolver", () => {
  test.each([
    ["localhost", ["127.0.0.1", "::1", "fe80::1%lo0"]],
    ["wiki.internal", ["10.0.0.5"]],
    ["wiki", ["10.0.0.5"]],
    ["gone", []],
    ["10.0.0.5", []],
    ["usual", []],
  ])("[OB3] the hosts file answers for %s first", (name, addresses) => {
    expect(addressesInHosts(hosts, name)).toEqual(addresses);
  });
});
