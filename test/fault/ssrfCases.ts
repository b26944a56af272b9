/**
 * Known ways to name an address that must not be called, and as many good addresses that look similar. `zone` has the
 * DNS answers of the names; `goodAddresses` are the addresses that may be called.
 */
import type { ZoneEntry } from "./ssrfDns.ts";

/** One or more addresses of each special-purpose range, most of them in ranges with attractive targets. */
const badAddresses: readonly string[] = [
  ..."0.0.0.0 0.0.0.1 0.255.255.255 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.254 127.0.0.1 127.0.0.53 127.1.1.1".split(
    " ",
  ),
  ..."127.255.255.254 168.63.129.16 169.254.0.1 169.254.169.254 169.254.170.2 172.16.0.1 172.17.0.1 172.31.255.254 192.0.0.1".split(" "),
  ..."192.0.0.192 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.1 192.168.1.1 192.168.255.254 192.175.48.1".split(" "),
  ..."198.18.0.1 198.19.255.254 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255".split(" "),
  ..."::1 :: ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:93.184.215.14 ::127.0.0.1 ::93.184.215.14".split(" "),
  ..."::ffff:0:127.0.0.1 64:ff9b::127.0.0.1 64:ff9b::93.184.215.14 64:ff9b:1::1 100::1 2001::1 2001:2::1 2001:10::1 2001:20::1".split(" "),
  ..."2001:db8::1 2002:7f00:1:: 2002:5db8:d70e::1 3fff::1 5f00::1 fc00::1 fd00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1".split(" "),
];

export const goodAddresses: readonly string[] = [
  ..."93.184.215.14 8.8.8.8 1.1.1.1 11.0.0.1 9.255.255.254 100.63.255.254 100.128.0.1 126.255.255.254 128.0.0.1 169.253.255.254".split(" "),
  ..."169.255.0.1 172.15.255.254 172.32.0.1 192.0.1.1 192.167.255.254 192.169.0.1 198.17.255.254 198.20.0.1 223.255.255.254".split(" "),
  ..."2606:2800:220:1::14 2a00:1450:4001::1 2001:4860:4860::8888 2001:200::1 3ffe::1".split(" "),
];
const [publicV4 = "", publicV6 = ""] = ["93.184.215.14", "2606:2800:220:1::14"];

const isV6 = (address: string) => address.includes(":");
const inUrl = (address: string) => (isV6(address) ? `[${address}]` : address);
const answers = (...addresses: readonly string[]): ZoneEntry => ({
  a: addresses.filter((address) => !isV6(address)),
  aaaa: addresses.filter(isV6),
});

/** Other spellings of addresses such as 127.0.0.1, 169.254.169.254 and 10.0.0.1. */
const spellings: readonly string[] = [
  "https://2130706433/",
  "https://017700000001/",
  "https://0x7f000001/",
  "https://0x7f.0.0.1/",
  "https://0x7f.1/",
  "https://0177.0.0.1/",
  "https://127.1/",
  "https://127.0.1/",
  "https://127.000.000.001/",
  "https://127.0.0.1./",
  "https://2852039166/",
  "https://0xA9FEA9FE/",
  "https://169.254.43518/",
  "https://0251.0376.0251.0376/",
  "https://167772161/",
  "https://10.1/",
  "https://3232235777/",
  "https://0/",
  "https://0x0/",
  "https://１２７.０.０.１/",
  "https://①②⑦.⓪.⓪.①/",
  "https://127。0。0。1/",
  "https://127．0．0．1/",
  "https://%31%32%37.0.0.1/",
  "https://127%2e0%2e0%2e1/",
  "https://[::ffff:7f00:1]/",
  "https://[0:0:0:0:0:ffff:127.0.0.1]/",
  "https://[::FFFF:169.254.169.254]/",
  "https://[0000:0000:0000:0000:0000:0000:0000:0001]/",
  "https://[::ffff:a9fe:a9fe]/",
  "https://[64:FF9B::A9FE:A9FE]/",
  "https:127.0.0.1/",
  "https:/127.0.0.1/",
  "https:///127.0.0.1/",
  "https:\\\\127.0.0.1\\",
  "HTTPS://127.0.0.1/",
  "https://127.0.0.1\\@hooks.good.example/",
  "https://127.0.0.1#@hooks.good.example/",
  "https://127.0.0.1?@hooks.good.example/",
  "https://127.0.0.1:443/",
  "https://localhost/",
  "https://LOCALHOST/",
  "https://localhost./",
  "https://ｌｏｃａｌｈｏｓｔ/",
];

/** URLs that are refused for another reason than their address. */
const others: readonly string[] = [
  "http://hooks.good.example/",
  "ftp://hooks.good.example/",
  "file:///etc/passwd",
  "gopher://127.0.0.1:6379/_INFO",
  "javascript:alert(1)",
  "data:text/plain,x",
  "//hooks.good.example/",
  "hooks.good.example",
  "https://",
  "https://:443/",
  "https://hooks.good.example:99999/",
  "https://user@hooks.good.example/",
  "https://user:word@hooks.good.example/",
  "https://hooks.good.example@127.0.0.1/",
  " https://hooks.good.example/",
  "https://hooks.good.example/\n",
  "https://hooks.good\t.example/",
  "https://[fe80::1%25lo]/",
  "https://missing.bad.example/",
  "https://empty.bad.example/",
  "https://broken.bad.example/",
  "https://a..bad.example/",
  "https://0x08.8.8.8/",
  "https://134744072/",
  "https://hooks.good.example\\@127.0.0.1/",
  "https://hooks.good.example\\.bad.example/",
  "https:\\\\hooks.good.example/",
  "https:hooks.good.example/",
  "https:///hooks.good.example/",
  "https://@hooks.good.example/",
  "https://ｈooks.good.example/",
  "https://hooks。good。example/",
  "https://ho%6fks.good.example/",
  `https://hooks.good.example/${"a".repeat(2048)}`,
  ...[0, 1, 7, 22, 23, 25, 53, 110, 143, 389, 465, 587, 993, 2049, 3306, 5060, 5432, 6000, 6379, 6667, 9200, 10080, 11211, 27017].map(
    (port) => `https://hooks.good.example:${port}/`,
  ),
];

export const zone = new Map<string, ZoneEntry>([
  ["empty.bad.example", {}],
  ["broken.bad.example", { fails: true }],
  ["hooks.good.example", answers(publicV4)],
  ["v6.good.example", answers(publicV6)],
  ["both.good.example", answers(publicV4, publicV6)],
  ["many.good.example", answers("8.8.8.8", "1.1.1.1", publicV4)],
  ["alias.good.example", { alias: "hooks.good.example", ...answers(publicV4) }],
  ["127.0.0.1.good.example", answers(publicV4)],
  ["10.0.0.1.good.example", answers(publicV4)],
  ["localhost.good.example", answers(publicV4)],
  ["metadata.google.internal.good.example", answers(publicV4)],
  ["xn--bcher-kva.good.example", answers(publicV4)],
  ["intranet", answers(publicV4)],
  ["alias.bad.example", { alias: "inside.bad.example", ...answers("10.0.0.1") }],
  ["169.254.169.254.bad.example", answers("169.254.169.254")],
]);

const named: string[] = ["https://alias.bad.example/", "https://169.254.169.254.bad.example/"];
for (const [n, address] of badAddresses.entries()) {
  zone.set(`only-${n}.bad.example`, answers(address));
  zone.set(`mixed-${n}.bad.example`, answers(publicV4, publicV6, address));
  named.push(`https://only-${n}.bad.example/`, `https://mixed-${n}.bad.example/`);
}

export const badUrls: readonly string[] = [
  ...badAddresses.map((address) => `https://${inUrl(address)}/`),
  ...spellings,
  ...others,
  ...named,
];

export const goodUrls: readonly string[] = [
  ...goodAddresses.map((address) => `https://${inUrl(address)}/in`),
  "https://hooks.good.example/",
  "https://hooks.good.example/a/b?c=d&e=%20#f",
  "https://HOOKS.Good.Example/",
  "https://hooks.good.example./",
  "https://hooks.good.example:443/",
  "https://hooks.good.example:444/",
  "https://hooks.good.example:8443/",
  "https://hooks.good.example:65535/",
  "https://v6.good.example/",
  "https://both.good.example/",
  "https://many.good.example/",
  "https://alias.good.example/",
  "https://127.0.0.1.good.example/",
  "https://10.0.0.1.good.example/",
  "https://localhost.good.example/",
  "https://metadata.google.internal.good.example/",
  "https://bücher.good.example/",
  "https://intranet/",
];

/** Names that are public when the webhook is created and not public when it is called. */
export const rebinding: readonly { readonly name: string; readonly later: ZoneEntry }[] = badAddresses.flatMap((address, n) => [
  { name: `turn-${n}.bad.example`, later: answers(address) },
  { name: `blend-${n}.bad.example`, later: answers(publicV4, address) },
]);
for (const { name } of rebinding) zone.set(name, answers(publicV4));
/** The answer alternates with each query. */
zone.set("flip.bad.example", { a: [publicV4], secondly: { a: ["127.0.0.1"] } });

/** Ports with a listener on every address. */
export const listenedPorts: readonly number[] = [443, 444, 8443, 65_535, 22, 25, 80, 3306, 5432, 6379, 9200, 11_211, 27_017];
/** Hosts of the receivers' certificate. */
export const certifiedHosts: readonly string[] = [
  ...goodAddresses,
  "*.good.example",
  "127.0.0.1.good.example",
  "10.0.0.1.good.example",
  "metadata.google.internal.good.example",
  "intranet",
  "*.bad.example",
];
