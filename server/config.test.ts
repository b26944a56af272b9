import { describe, expect, test } from "vitest";
import { defaultLimits } from "../api/limits.ts";
import { type Config, formatProblems, readConfig } from "./config.ts";

function read(environment: Record<string, string>): Config {
  const result = readConfig(environment);
  if (!result.ok) throw new Error(formatProblems(result.problems));
  return result.config;
}

function problemsOf(environment: Record<string, string>): string {
  const result = readConfig(environment);
  if (result.ok) throw new Error("the settings were taken");
  return formatProblems(result.problems);
}

describe("defaults", () => {
  test("[OP2] an empty environment starts with the documented defaults and no deviation", () => {
    const config = read({});
    expect(config).toMatchObject({ host: "127.0.0.1", port: 8787, proxyHops: 0, corsOrigins: [], outboundAllowCidrs: [], deviations: [] });
    expect(config).toMatchObject({
      checkpointQuietMs: 30_000,
      checkpointMaxMs: 300_000,
      diskReserveMiB: 256,
      shutdownMs: 10_000,
      leaseMs: 5000,
    });
    expect(config.limits).toEqual(defaultLimits);
    expect(config.baseUrl).toBeUndefined();
    expect(config.webhookRetryScheduleMs.reduce((sum, pause) => sum + pause, 0)).toBe((75 * 60 + 35) * 60_000 + 5000);
    expect(config.webhookAutoDisable).toEqual({ onGone: false });
  });

  test("[OP2] an empty value counts as absent", () => {
    expect(read({ PORT: "", BASE_URL: " ", LIMITS: "", SVC_ADMIN_USERNAME: "", SVC_ADMIN_PASSWORD: "" })).toEqual(read({}));
  });
});

describe("errors", () => {
  test("[OP3] all wrong settings are in one list, each with its value, the allowed values and the remedy", () => {
    const wrong: Record<string, string> = {
      PORT: "80a",
      HOST: "not a host",
      BASE_URL: "http://write.example.com",
      CORS_ORIGINS: "https://a.example,b.example",
      TRUST_PROXY: "-1",
      LIMITS: `{"rate.foo":1}`,
      OUTBOUND_ALLOW_CIDRS: "10.0.0.0/40",
      WEBHOOK_RETRY_SCHEDULE: "0,x",
      WEBHOOK_AUTO_DISABLE: "on",
      CHECKPOINT_QUIET_MS: "0",
      CHECKPOINT_MAX_MS: "1e3",
      DISK_RESERVE_MIB: "1.5",
      SHUTDOWN_MS: "soon",
      LEASE_MS: "1",
      LOG_LEVEL: "loud",
      SVC_ADMIN_USERNAME: ".admin",
    };
    const text = problemsOf(wrong);
    expect(text).toContain(`${Object.keys(wrong).length + 1} settings are wrong; nothing was started.`);
    expect(text).not.toContain("Invalid input");
    expect(text).toContain("http with a private address such as http://192.168.1.20:8787");
    for (const [name, value] of Object.entries(wrong)) {
      expect(text).toContain(`  ${name}\n    read     ${JSON.stringify(value)}\n    allowed  `);
      expect(text).toContain(`    example  ${name}=`);
    }
    expect(text).toContain("SVC_ADMIN_PASSWORD\n    read     not set, but SVC_ADMIN_USERNAME is set");
  });

  test("[OP3] the example value in every error message is itself valid", () => {
    const wrong = readConfig(
      Object.fromEntries(
        ["PORT", "HOST", "BASE_URL", "CORS_ORIGINS", "LIMITS", "WEBHOOK_RETRY_SCHEDULE", "LEASE_MS"].map((name) => [name, "?"]),
      ),
    );
    if (wrong.ok) throw new Error("the settings were taken");
    expect(wrong.problems).toHaveLength(7);
    read(Object.fromEntries(wrong.problems.map(({ name, example }) => [name, example])));
  });

  test("[OP4] the value of a secret is never repeated", () => {
    const secrets = { SVC_SECRET_KEY: "abc123secret", OPERATOR_TOKEN: "short secret", SVC_ADMIN_PASSWORD: "secretpw" };
    const text = problemsOf({
      ...secrets,
      SVC_ADMIN_USERNAME: "admin",
      REDIS_URL: "redis://:secret@host/x",
      BASE_URL: "https://me:secret@a.example",
    });
    expect(text).not.toMatch(/secretpw|abc123|short secret|:secret/);
    expect(text).toContain("5 settings are wrong");
  });

  test("[OP3] REDIS_URL selects Redis, which requires an explicit key shared by all nodes", () => {
    const key = "ab".repeat(32);
    expect(read({}).redis).toBeUndefined();
    expect(read({ REDIS_URL: "redis+cluster://a:7000,b", SVC_SECRET_KEY: key, REDIS_WAIT_REPLICAS: "1" }).redis).toMatchObject({
      address: {
        kind: "cluster",
        servers: [
          { host: "a", port: 7000 },
          { host: "b", port: 6379 },
        ],
      },
      waitReplicas: 1,
    });
    expect(problemsOf({ REDIS_URL: "redis://localhost" })).toContain("SVC_SECRET_KEY\n    read     not set, but REDIS_URL is set");
    expect(problemsOf({ REDIS_URL: "redis+sentinel://localhost", SVC_SECRET_KEY: key })).toContain("redis+sentinel://host,host/master");
    expect(problemsOf({ REDIS_WAIT_REPLICAS: "1" })).toContain("REDIS_URL\n    read     not set, but REDIS_WAIT_REPLICAS is set");
  });

  test("[OP3] a model requires an address and a name; its key is optional and never shown", () => {
    const model = { MODEL_BASE_URL: "http://127.0.0.1:11434/v1/", MODEL_NAME: "large-writer" };
    expect(read(model).model).toEqual({ baseUrl: "http://127.0.0.1:11434/v1", name: "large-writer" });
    expect(read({ ...model, MODEL_API_KEY: "k-123" }).model).toMatchObject({ apiKey: "k-123" });
    expect(read({}).model).toBeUndefined();
    expect(problemsOf({ MODEL_NAME: "large-writer" })).toContain("MODEL_BASE_URL");
    expect(problemsOf({ MODEL_BASE_URL: model.MODEL_BASE_URL })).toContain("MODEL_NAME");
    expect(problemsOf({ MODEL_API_KEY: "k-123 4" })).not.toContain("k-123");
    expect(problemsOf({ ...model, MODEL_BASE_URL: "ftp://models.example.com" })).toContain("OpenAI-compatible");
    expect(problemsOf({ ...model, MODEL_BASE_URL: "https://models.example.com\\@10.0.0.1/v1" })).toContain("OpenAI-compatible");
    expect(problemsOf({ ...model, MODEL_BASE_URL: "https://models.example.com/v1?key=1" })).toContain(
      "without user name, query or fragment",
    );
  });

  test("[OP3] a checkpoint cannot be due before its quiet time", () => {
    expect(problemsOf({ CHECKPOINT_QUIET_MS: "5000", CHECKPOINT_MAX_MS: "1000" })).toContain("at least CHECKPOINT_QUIET_MS, which is 5000");
  });

  test("[OP3] an unknown SVC_ name causes a warning, except the names that clients use", () => {
    const result = readConfig({ SVC_ADMIN_USER: "x", SVC_API_KEY: "x", SVC_BASE_URL: "x", OTHER: "x" });
    expect(result.warnings).toEqual(["SVC_ADMIN_USER is not a setting of this server; it was ignored"]);
    expect(result.ok).toBe(true);
  });
});

describe("values", () => {
  test("[OP35] a base URL is an origin, and http only with a private or loopback address", () => {
    expect(read({ BASE_URL: "https://Write.Example.com/" }).baseUrl).toBe("https://write.example.com");
    expect(read({ BASE_URL: "http://localhost:9000" }).baseUrl).toBe("http://localhost:9000");
    expect(read({ BASE_URL: "http://[::1]:9000" }).baseUrl).toBe("http://[::1]:9000");
    for (const wrong of ["https://a.example/path", "ftp://a.example", "https://a.example?x=1", "write.example.com"]) {
      expect(problemsOf({ BASE_URL: wrong })).toContain("BASE_URL");
    }
    const inside = [
      "10.0.0.5",
      "172.16.3.4:8787",
      "192.168.1.5",
      "100.64.0.1",
      "169.254.1.1",
      "[fd00::5]:8787",
      "[fe80::1]",
      "[::ffff:10.0.0.5]",
    ];
    for (const host of inside) expect(read({ BASE_URL: `http://${host}` }).baseUrl).toBe(new URL(`http://${host}`).origin);
    const outside = [
      "203.0.113.5",
      "8.8.8.8",
      "172.32.0.1",
      "0.0.0.0",
      "[2001:4860::8888]",
      "[::ffff:8.8.8.8]",
      "[::]",
      "nas",
      "10.0.0.5.example.com",
    ];
    for (const host of outside) expect(problemsOf({ BASE_URL: `http://${host}` })).toContain("BASE_URL");
  });

  test("[OP35] http on a network address is a warning and a deviation; https and loopback are not", () => {
    for (const [environment, deviation] of [
      [{ BASE_URL: "http://192.168.1.5:8787" }, { name: "BASE_URL", value: "http://192.168.1.5:8787" }],
      [{ HOST: "0.0.0.0" }, { name: "HOST", value: "0.0.0.0" }],
      [{ HOST: "192.168.1.5" }, { name: "HOST", value: "192.168.1.5" }],
      [
        { HOST: "0.0.0.0", BASE_URL: "http://10.0.0.5" },
        { name: "BASE_URL", value: "http://10.0.0.5" },
      ],
    ] as const) {
      expect(read(environment).deviations).toEqual([deviation]);
      expect(readConfig(environment).warnings).toEqual([
        expect.stringContaining(`${deviation.name}=${deviation.value}: passwords and keys cross the network unencrypted`),
      ]);
    }
    for (const environment of [
      { HOST: "0.0.0.0", BASE_URL: "https://a.example" },
      { HOST: "localhost" },
      { HOST: "::1" },
      { BASE_URL: "http://127.0.0.1:1" },
    ]) {
      expect(read(environment).deviations).toEqual([]);
      expect(readConfig(environment).warnings).toEqual([]);
    }
  });

  test("[OP35] a public listening address requires a BASE_URL", () => {
    for (const host of ["8.8.8.8", "192.0.2.2", "240.0.0.1", "2001:db8::1", "::ffff:8.8.8.8"]) {
      expect(problemsOf({ HOST: host })).toContain(`not set, but HOST is ${host}, which is neither a private nor a loopback address`);
      expect(problemsOf({ BASE_URL: `http://${host.includes(":") ? `[${host}]` : host}:8787` })).toContain("BASE_URL");
    }
    for (const host of ["0.0.0.0", "::", "127.0.0.1", "10.0.0.5", "fd00::5"]) expect(read({ HOST: host }).host).toBe(host);
    expect(read({ HOST: "8.8.8.8", BASE_URL: "https://a.example" }).host).toBe("8.8.8.8");
  });

  test("[OP3] secret keys are hex or base64, several separated by commas", () => {
    const bytes = Buffer.alloc(32, 7);
    const text = [bytes.toString("hex"), bytes.toString("base64"), bytes.toString("base64url")].join(", ");
    expect(read({ SVC_SECRET_KEY: text }).secretKeys).toEqual([bytes, bytes, bytes].map((key) => new Uint8Array(key)));
    expect(problemsOf({ SVC_SECRET_KEY: `${bytes.toString("hex")}00` })).toContain("SVC_SECRET_KEY");
  });

  test("[OP3] a password is used as given, with its spaces", () => {
    expect(read({ SVC_ADMIN_USERNAME: "Admin", SVC_ADMIN_PASSWORD: " ten letters " }).firstAccount).toEqual({
      username: "admin",
      password: " ten letters ",
    });
  });

  test("[OP3] retry pauses are in seconds, and webhooks can be disabled by answer or by age", () => {
    expect(read({ WEBHOOK_RETRY_SCHEDULE: "0, 0.25 ,3" }).webhookRetryScheduleMs).toEqual([0, 250, 3000]);
    expect(read({ WEBHOOK_AUTO_DISABLE: "410,5d" }).webhookAutoDisable).toEqual({ onGone: true, afterFailingMs: 432_000_000 });
  });
});

describe("limits", () => {
  test("[OP5] fields are overridden one by one and every change is a deviation", () => {
    const config = read({
      LIMITS: `{"rate.writes":"off","keys.active":3}`,
      OUTBOUND_ALLOW_CIDRS: "10.0.0.0/8",
      WEBHOOK_AUTO_DISABLE: "410",
    });
    expect(config.limits).toEqual({ ...defaultLimits, "rate.writes": "off", "keys.active": 3 });
    expect(config.deviations).toEqual([
      { name: "OUTBOUND_ALLOW_CIDRS", value: "10.0.0.0/8" },
      { name: "LIMITS.rate.writes", value: `"off"` },
      { name: "LIMITS.keys.active", value: "3" },
      { name: "WEBHOOK_AUTO_DISABLE", value: "410" },
    ]);
  });

  test("[OP5] LIMITS=off removes every rate and count, but no size, lifetime or validity rule", () => {
    const { limits } = read({ LIMITS: "off" });
    for (const [field, value] of Object.entries(limits)) {
      const before = defaultLimits[field as keyof typeof defaultLimits];
      if (typeof before !== "number") expect(value).toBe("off");
      if (field.endsWith(".perWorkspace")) expect(value).toBe(Number.MAX_SAFE_INTEGER);
    }
    for (const field of ["keys.active", "sockets.credential", "sse.credential"] as const) {
      expect(limits[field], field).toBe(Number.MAX_SAFE_INTEGER);
    }
    expect(limits["body.json"]).toBe(defaultLimits["body.json"]);
    expect(limits["keep.ticket"]).toBe(defaultLimits["keep.ticket"]);
    expect(limits["list.limitMax"]).toBe(defaultLimits["list.limitMax"]);
  });

  test("[OP5] an unknown field, a wrong type or a contradiction stops the start with a message", () => {
    expect(problemsOf({ LIMITS: `{"rate.write":"off"}` })).toContain(
      `unknown field "rate.write"; known fields are rate.default, rate.writes`,
    );
    expect(problemsOf({ LIMITS: `{"body.json":"off"}` })).toContain("body.json: must be a whole number");
    expect(problemsOf({ LIMITS: `{"rate.auth":5}` })).toContain(`rate.auth: must be "off" or {"count"`);
    expect(problemsOf({ LIMITS: `{"list.limitDefault":500}` })).toContain("list.limitDefault (500) may not be above list.limitMax (100)");
    expect(problemsOf({ LIMITS: "{" })).toContain("not JSON");
    expect(problemsOf({ LIMITS: "[]" })).toContain("LIMITS");
  });
});
