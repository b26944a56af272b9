import { describe, expect, it } from "vitest";
import { toAddressSubject } from "./addressSubject.ts";

describe("rates by address", () => {
  it("[API12] every IPv4 address has its own bucket, even when mapped into IPv6", () => {
    expect(toAddressSubject("192.0.2.1")).toBe("address:192.0.2.1");
    expect(toAddressSubject("192.0.2.2")).not.toBe(toAddressSubject("192.0.2.1"));
    expect(toAddressSubject("::ffff:192.0.2.1")).toBe(toAddressSubject("192.0.2.1"));
  });

  it("[API12] all addresses of one IPv6 /64 share a bucket, and another /64 has its own", () => {
    const one = toAddressSubject("2001:db8:1:2::1");
    expect(toAddressSubject("2001:0db8:0001:0002:ffff:ffff:ffff:ffff")).toBe(one);
    expect(toAddressSubject("2001:db8:1:3::1")).not.toBe(one);
  });

  it("[API12] a text that is no address has its own bucket", () => {
    expect(toAddressSubject("")).toBe("address:");
    expect(toAddressSubject("a:b")).toBe("address:a:b");
  });
});
