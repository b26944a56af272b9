/**
 * Stores the outputs of steps: bytes in the blob store under their hash, and one artifact record for each output.
 *
 * The records are written in the commit that ends the step. Keys are `<step>-<attempt>[-<label>]`, so no artifact is
 * ever overwritten. The module limits the size of one output and of all outputs of a run. It knows nothing about step
 * types.
 */
import { createHash } from "node:crypto";
import type { Limits } from "../../../../api/limits.ts";
import type { ArtifactMade } from "../../../../machines/agentRun.ts";
import { partitionOfId } from "../../../platform/storage/ids.ts";
import type { RecordWrite, Storage } from "../../../platform/storage/port.ts";
import type { StepArtifact } from "../executors/port.ts";
import { type ArtifactRecord, artifactId, artifactRecord, artifactsOf } from "../model/records.ts";

export interface StepOutputs {
  readonly made: readonly ArtifactMade[];
  readonly records: readonly RecordWrite<ArtifactRecord>[];
}

export interface MakeOutputs {
  readonly runId: string;
  readonly stepName: string;
  readonly attempt: number;
  readonly artifacts: readonly StepArtifact[];
}

export interface Artifacts {
  /**
   * Stores the bytes and returns the records for the caller's commit. For `too_large`, the message names the size and
   * the limit.
   */
  make(params: MakeOutputs): Promise<({ readonly kind: "made" } & StepOutputs) | { readonly kind: "too_large"; readonly message: string }>;
  find(runId: string, artifactKey: string): Promise<ArtifactRecord | undefined>;
  bytes(artifact: ArtifactRecord): Promise<Uint8Array>;
}

export interface ArtifactsOptions {
  readonly storage: Pick<Storage, "records" | "index" | "blobs" | "now">;
  readonly limits: Pick<Limits, "run.stepOutput" | "run.state" | "run.journal">;
}

const maxKeyCharacters = 128;
const maxNameCharacters = 80;

/**
 * Replaces the characters that a key must not contain. A name that was changed gets a hash suffix, so two names never
 * get the same key.
 */
function toKeyPart(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9._-]/g, "_").slice(0, maxNameCharacters);
  const usable = /^[A-Za-z0-9]/.test(plain) ? plain : `x${plain}`;
  return usable === name ? name : `${usable}.${createHash("sha256").update(name).digest("hex").slice(0, 8)}`;
}

/** Returns one unique key for each artifact. */
function toKeys({ stepName, attempt, artifacts }: MakeOutputs): readonly string[] {
  const taken = new Set<string>();
  return artifacts.map(({ label }) => {
    const base = [toKeyPart(stepName), attempt, ...(label === undefined ? [] : [toKeyPart(label)])]
      .join("-")
      .slice(0, maxKeyCharacters - 5);
    let key = base;
    for (let n = 2; taken.has(key); n += 1) key = `${base}.${n}`;
    taken.add(key);
    return key;
  });
}

export function createArtifacts({ storage, limits }: ArtifactsOptions): Artifacts {
  async function ofRun(runId: string): Promise<readonly ArtifactRecord[]> {
    const rows = await storage.index.scan({
      partition: partitionOfId(runId),
      prefix: artifactsOf(runId),
      // The journal limits the number of attempts, and one attempt makes a few artifacts, so no run has more artifacts
      // than this.
      limit: limits["run.journal"] * 100,
    });
    const found = await storage.records.getMany(
      artifactRecord,
      rows.map(({ target }) => target),
    );
    return found.flatMap((stored) => (stored === undefined ? [] : [stored.value]));
  }

  return {
    async make(params) {
      const { runId, stepName, artifacts } = params;
      const contents = artifacts.map(({ text }) => Buffer.from(text, "utf8"));
      const largest = Math.max(0, ...contents.map(({ byteLength }) => byteLength));
      if (largest > limits["run.stepOutput"]) {
        const message = `An output of ${stepName} has ${largest} bytes; at most ${limits["run.stepOutput"]} are kept (run.stepOutput).`;
        return { kind: "too_large", message };
      }
      const before = await ofRun(runId);
      const total = [...before.map(({ bytes }) => bytes), ...contents.map(({ byteLength }) => byteLength)].reduce((a, b) => a + b, 0);
      if (total > limits["run.state"]) {
        const message = `The outputs of the run would have ${total} bytes; at most ${limits["run.state"]} are kept (run.state).`;
        return { kind: "too_large", message };
      }
      const keys = toKeys(params);
      const first = (before.at(-1)?.number ?? 0) + 1;
      const createdAtMs = storage.now();
      const values = await Promise.all(
        artifacts.map(async ({ kind, contentType }, index): Promise<ArtifactRecord> => {
          const content = contents[index] as Uint8Array;
          const sha256 = await storage.blobs.put(partitionOfId(runId), content);
          const artifactKey = keys[index] as string;
          const bytes = content.byteLength;
          return { runId, artifactKey, number: first + index, stepName, kind, contentType, bytes, sha256, createdAtMs };
        }),
      );
      return {
        kind: "made",
        made: values.map(({ artifactKey, kind, contentType, bytes, sha256 }) => ({ artifactKey, kind, contentType, bytes, sha256 })),
        records: values.map((value) => ({ op: "put", type: artifactRecord, value, replacing: null })),
      };
    },

    async find(runId, artifactKey) {
      return (await storage.records.get(artifactRecord, artifactId(runId, artifactKey)))?.value;
    },

    async bytes({ runId, artifactKey, sha256 }) {
      const bytes = await storage.blobs.get(partitionOfId(runId), sha256);
      if (bytes === undefined) throw new Error(`the bytes of artifact ${artifactKey} of run ${runId} are missing`);
      return bytes;
    },
  };
}
