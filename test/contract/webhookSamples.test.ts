/** Tests the receiver functions of docs/webhooks.md exactly as written, with requests that were really sent. */
import { execFile } from "node:child_process";
import { beforeAll, expect, test } from "vitest";
import { createMemoryStorage } from "../../server/platform/storage/memoryStorage.ts";
import { createCertificateAuthority } from "../support/certificateAuthority.ts";
import { readDocumentBlock } from "../support/documentBlock.ts";
import { type ReceivedRequest, startReceiver } from "../support/receiver.ts";
import { createWebhookRig, rigRecordTypes } from "./webhookFixture.ts";

interface Check {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly secret: string;
  /** Unix seconds. */
  readonly now: number;
}

/** Results of the two functions of one language: by the service's own headers, and by those of Standard Webhooks. */
type Verdict = readonly [own: boolean, standard: boolean];
type VerifyAll = (checks: readonly Check[]) => Promise<readonly Verdict[]>;

const page = "docs/webhooks.md";

async function verifyInNode(checks: readonly Check[]): Promise<readonly Verdict[]> {
  type Verify = (headers: Check["headers"], rawBody: Buffer, secret: string, nowSeconds: number) => boolean;
  const code = readDocumentBlock(page, "verify-node");
  const module: { verify: Verify; verifyStandard: Verify } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  return checks.map(({ headers, body, secret, now }) => [
    module.verify(headers, body, secret, now),
    module.verifyStandard(headers, body, secret, now),
  ]);
}

function verifyInPython(checks: readonly Check[]): Promise<readonly Verdict[]> {
  const program = `${readDocumentBlock(page, "verify-python")}
import json, sys
def verdict(check):
    request = (check["headers"], base64.b64decode(check["body"]), check["secret"], check["now"])
    return [verify(*request), verify_standard(*request)]
print(json.dumps([verdict(check) for check in json.load(sys.stdin)]))
`;
  return new Promise((resolve, reject) => {
    const python = execFile("python3", ["-c", program], (error, stdout) => {
      if (error === null) resolve(JSON.parse(stdout));
      else reject(error);
    });
    python.stdin?.end(JSON.stringify(checks.map((check) => ({ ...check, body: check.body.toString("base64") }))));
  });
}

let during: ReceivedRequest;
let oldSecret: string;
let newSecret: string;

/** One request is sent between a rotation and the end of the old secret. */
beforeAll(async () => {
  const authority = await createCertificateAuthority();
  const receiver = await startReceiver({ authority });
  const storage = createMemoryStorage({ recordTypes: rigRecordTypes as never });
  const rig = await createWebhookRig({ storage, authority });
  const made = await rig.make(receiver.url);
  oldSecret = made.secret;
  newSecret = (await rig.request("PATCH", rig.path(made.webhookId), { body: { rotateSecret: true } })).body.secret;
  await rig.happen({ title: "Grüße 🎈" });
  during = (await receiver.waitForCount(1))[0] as ReceivedRequest;
  await rig.close();
  await receiver.close();
  await authority.remove();
});

/** Changes one character in both kinds of signature. */
function changeSignatures(headers: Check["headers"]): Check["headers"] {
  const names = ["x-svc-signature", "x-svc-signature-previous", "webhook-signature"];
  const change = (value = "") => value.replace(/(v1[=,])(.)/g, (_all, start: string, first: string) => start + (first === "0" ? "1" : "0"));
  return { ...headers, ...Object.fromEntries(names.map((name) => [name, change(headers[name])])) };
}

test.each([
  ["Node", verifyInNode],
  ["Python", verifyInPython],
] as const)(
  "[WH15] the %s functions for receivers accept either secret in a rotation and refuse any change",
  async (_language, verifyAll: VerifyAll) => {
    const { headers, body } = during;
    expect(headers["webhook-signature"]?.split(" ")).toHaveLength(2);
    const sentAt = Number(headers["x-svc-timestamp"]);
    const later = String(sentAt + 1);
    const genuine: Check = { headers, body, secret: newSecret, now: sentAt + 299 };
    const withoutPrevious = Object.fromEntries(Object.entries(headers).filter(([name]) => name !== "x-svc-signature-previous"));
    const accepted = [genuine, { ...genuine, secret: oldSecret }, { ...genuine, now: sentAt - 299 }];
    const refused = [
      { ...genuine, secret: `whsec_${Buffer.alloc(32).toString("base64")}` },
      { ...genuine, body: Buffer.concat([body, Buffer.from(" ")]) },
      { ...genuine, headers: { ...headers, "x-svc-timestamp": later, "webhook-timestamp": later } },
      { ...genuine, headers: { ...headers, "x-svc-timestamp": "soon", "webhook-timestamp": "soon" } },
      { ...genuine, headers: changeSignatures(headers) },
      { ...genuine, headers: {} },
      { ...genuine, now: sentAt + 301 },
      { ...genuine, now: sentAt - 301 },
    ];
    const afterwards: Check = {
      ...genuine,
      secret: oldSecret,
      headers: { ...withoutPrevious, "webhook-signature": headers["webhook-signature"]?.split(" ")[0] ?? "" },
    };
    const verdicts = await verifyAll([...accepted, ...refused, afterwards]);
    expect(verdicts).toEqual([...accepted.map(() => [true, true]), ...refused.map(() => [false, false]), [false, false]]);
  },
);
