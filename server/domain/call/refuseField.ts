import { AppError } from "../../../api/schema/error.ts";

/** Error for a field or parameter whose value passes the schema but is not valid for this request. */
export function refuseField(field: string, message: string, code = "invalid_value"): AppError {
  return new AppError("validation_failed", `The value of ${field} ${message}.`, { errors: [{ pointer: `/${field}`, code, message }] });
}
