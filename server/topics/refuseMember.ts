import { AppError } from "../../api/schema/error.ts";

/** A member of the body that its schema takes and that names nothing here. */
export function refuseMember(name: string, message: string): AppError {
  const errors = [{ pointer: `/${name}`, code: "not_found", message }];
  return new AppError("validation_failed", `The value of ${name} ${message}.`, { errors });
}
