import { lookup } from "node:dns/promises";

/** Every address of a name, as the machine's own resolver finds them. */
export async function resolveByDns(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true })).map((one) => one.address);
}
