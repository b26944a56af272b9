/** All record types of accounts, credentials and workspaces. */
import { authRecordTypes } from "./access/credentialRecords.ts";
import { accountRecordTypes } from "./registry/accountRecords.ts";
import { workspaceRecordTypes } from "./workspaces/records.ts";

export const identityRecordTypes = [...accountRecordTypes, ...authRecordTypes, ...workspaceRecordTypes];
