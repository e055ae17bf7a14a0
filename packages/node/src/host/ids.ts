import { randomBytes } from "node:crypto";
import type { Ids } from "@holdfast/runtime";

/** Crockford's base 32: no letters that are read as digits. */
const digits = "0123456789abcdefghjkmnpqrstvwxyz";

function encode(value: bigint, length: number): string {
  let rest = value;
  let text = "";
  for (let index = 0; index < length; index += 1) {
    text = (digits[Number(rest & 31n)] ?? "") + text;
    rest >>= 5n;
  }
  return text;
}

/** 48 bits of time in ms, then 80 random bits, as in a ULID (https://github.com/ulid/spec). */
export const ids: Ids = {
  next: (prefix) => `${prefix}_${encode(BigInt(Date.now()), 10)}${encode(BigInt(`0x${randomBytes(10).toString("hex")}`), 16)}`,
  salt: (bytes) => randomBytes(bytes).toString("hex"),
  random: () => randomBytes(4).readUInt32BE() / 2 ** 32,
};
