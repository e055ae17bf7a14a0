import { put } from "./change.ts";
import type { RegisterPut, Registers } from "./state.ts";

export function closeApproval(registers: Registers, id: string, status: string): RegisterPut[] {
  const register = registers.get("approval", id);
  return register === null ? [] : [put("approval", id, { ...register, status })];
}

export function closeQuestion(registers: Registers, id: string, status: "answered" | "expired"): RegisterPut[] {
  const register = registers.get("question", id);
  return register === null ? [] : [put("question", id, { ...register, status })];
}
