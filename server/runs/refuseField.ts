import { AppError } from "../../api/schema/error.ts";

/** A value of one member or parameter that the schema takes and this request cannot mean. */
export function refuseField(field: string, message: string, code = "invalid_value"): AppError {
  return new AppError("validation_failed", `The value of ${field} ${message}.`, { errors: [{ pointer: `/${field}`, code, message }] });
}
