/** API keys as the actor runtime knows them. A key does nothing by itself: it has no effects, only the timer of its expiry. */
import { type ApiKeyEvent, apiKeyCommands, apiKeyMachine } from "../../machines/apiKey.ts";
import type { ActorKind } from "../actors/port.ts";
import { type ApiKeyContext, apiKeyRecord } from "./records.ts";

export const apiKeyKind: ActorKind<ApiKeyContext, ApiKeyEvent> = {
  name: "apiKey",
  machine: apiKeyMachine,
  machineVersion: 1,
  record: apiKeyRecord,
  effects: {},
  commands: apiKeyCommands,
};

export const authActorKinds = [apiKeyKind];
