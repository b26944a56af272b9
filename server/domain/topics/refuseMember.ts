import { AppError } from "../../../api/schema/error.ts";

/** Error for a body member that passes the schema but refers to nothing that can be used here. */
export function refuseMember(name: string, message: string): AppError {
  const errors = [{ pointer: `/${name}`, code: "not_found", message }];
  return new AppError("validation_failed", `The value of ${name} ${message}.`, { errors });
}
