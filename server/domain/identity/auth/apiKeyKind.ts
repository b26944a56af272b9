/** This module defines the API key as an actor kind. A key has no effects, only a timer for its expiry. */
import type { OperationKey } from "../../../../api/contract/contract.ts";
import { type ApiKeyEvent, apiKeyCommands, apiKeyMachine } from "../../../../machines/apiKey.ts";
import type { ActorKind, CommandWords } from "../../../platform/actors/port.ts";
import { type ApiKeyContext, apiKeyRecord } from "../access/credentialRecords.ts";

const words: Readonly<Record<(typeof apiKeyCommands)[number], CommandWords<OperationKey>>> = {
  "key.revoke": { asked: "revoke the API key", operations: ["keys.revoke"] },
  "key.delete": { asked: "delete the API key", operations: ["keys.delete"] },
};

export const apiKeyKind: ActorKind<ApiKeyContext, ApiKeyEvent, never> = {
  name: "apiKey",
  machine: apiKeyMachine,
  machineVersion: 1,
  record: apiKeyRecord,
  effects: [],
  commands: apiKeyCommands,
  noun: () => "API key",
  words,
};
