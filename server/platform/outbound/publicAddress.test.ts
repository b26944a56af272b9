import { describe, expect, test } from "vitest";
import { createPublicAddresses, parseCidr } from "./publicAddress.ts";

const notPublic = [
  "0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 100.100.100.200 127.0.0.1 127.255.255.254 169.254.0.1 169.254.169.254",
  "168.63.129.16 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.192 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.1 192.168.255.255",
  "192.175.48.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.254 255.255.255.255",
  ":: ::1 ::2 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:0:8.8.8.8 ::8.8.8.8 ::7f00:1 64:ff9b::8.8.8.8 64:ff9b::7f00:1 64:ff9b:1::1 100::1",
  "2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:1::1 2001:2::1 2001:3::1 2001:4:112::1 2001:10::1 2001:20::1 2001:30::1 2001:1ff::1",
  "2001:db8::1 2001:db8:ffff::1 2002::1 2002:808:808::1 2002:7f00:1::1 2620:4f:8000::1 3fff::1 3fff:fff::1 4000::1 5f00::1 8000::1",
  "fc00::1 fd00::1 fd00:ec2::254 fe80::1 fe80::1%eth0 febf::1 fec0::1 ff02::1 ff0e::1 1fff::1",
]
  .join(" ")
  .split(" ");
const isPublic = [
  "1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 169.253.255.255 169.255.0.0 172.15.255.255",
  "172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255 93.184.215.14 168.63.129.15 168.63.129.17",
  "2000::1 2001:200::1 2001:4860:4860::8888 2003::1 2606:4700:4700::1111 2a00:1450:4001::1 3ffe::1 3fff:1000::1",
]
  .join(" ")
  .split(" ");

describe("publicAddress", () => {
  const addresses = createPublicAddresses();

  test.each(notPublic)("[OB2] %s is not dialled", (address) => {
    expect(addresses.isPublic(address)).toBe(false);
  });

  test.each(isPublic)("[OB2] %s is public", (address) => {
    expect(addresses.isPublic(address)).toBe(true);
  });

  test.each(["", "localhost", "127.1", "0177.0.0.1", "2130706433", "8.8.8.8.", "8.8.8", "0x8.8.8.8", "08.8.8.8", "[2003::1]", "2003::1::"])(
    "[OB2] text that is no plain address (%j) is not public",
    (text) => {
      expect(addresses.isPublic(text)).toBe(false);
    },
  );

  test("[OB5] an allowed range counts as public, and addresses outside it do not", () => {
    const allowing = createPublicAddresses(["127.0.0.0/8", "fd00::/8", "10.1.2.3"]);
    for (const address of ["127.0.0.1", "127.9.9.9", "fd12::1", "10.1.2.3"]) {
      expect([address, allowing.isPublic(address), allowing.isAllowed(address)]).toEqual([address, true, true]);
    }
    for (const address of ["10.1.2.4", "::1", "fc00::1", "::ffff:127.0.0.1"])
      expect([address, allowing.isPublic(address)]).toEqual([address, false]);
    expect(allowing.isAllowed("8.8.8.8")).toBe(false);
  });

  test.each(["", "10/8", "10.0.0.0/33", "fd00::/129", "localhost", "010.0.0.0/8", "10.0.0.0/", "10.0.0.0/-1"])(
    "[OB5] %j is refused as a range",
    (text) => {
      expect(() => parseCidr(text)).toThrow(RangeError);
    },
  );
});
