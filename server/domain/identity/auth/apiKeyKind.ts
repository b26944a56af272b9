/** This module defines the API key as an actor kind. A key has no effects, only a timer for its expiry. */
import { type ApiKeyEvent, apiKeyCommands, apiKeyMachine } from "../../../../machines/apiKey.ts";
import type { ActorKind } from "../../../platform/actors/port.ts";
import { type ApiKeyContext, apiKeyRecord } from "../access/credentialRecords.ts";

export const apiKeyKind: ActorKind<ApiKeyContext, ApiKeyEvent, never> = {
  name: "apiKey",
  machine: apiKeyMachine,
  machineVersion: 1,
  record: apiKeyRecord,
  effects: [],
  commands: apiKeyCommands,
};
