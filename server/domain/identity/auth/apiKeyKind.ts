/** This module registers API keys with the actor runtime. A key has no effects, only a timer for its expiry. */
import { type ApiKeyEvent, apiKeyCommands, apiKeyMachine } from "../../../../machines/apiKey.ts";
import type { ActorKind } from "../../../platform/actors/port.ts";
import { type ApiKeyContext, apiKeyRecord } from "../access/credentialRecords.ts";

export const apiKeyKind: ActorKind<ApiKeyContext, ApiKeyEvent> = {
  name: "apiKey",
  machine: apiKeyMachine,
  machineVersion: 1,
  record: apiKeyRecord,
  effects: {},
  commands: apiKeyCommands,
};

export const authActorKinds = [apiKeyKind];
