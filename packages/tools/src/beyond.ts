import type { CallPlan } from "@holdfast/protocol/call";
import type { Files } from "@holdfast/runtime/ports/files";
import type { CallContext, CallRefusal } from "@holdfast/runtime/ports/tool-host";
import { z } from "zod";
import { refuse } from "./define.ts";
import { decoded } from "./input.ts";
import { isRefusal, placeOf } from "./place.ts";

const host = z
  .string()
  .regex(
    /^(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\d{1,5})?$|^\[[0-9A-Fa-f:]+\](?::\d{1,5})?$/,
    "a host such as registry.npmjs.org",
  );
export const hosts = decoded(z.array(host).max(20));
export const folders = decoded(z.array(z.string().min(1)).max(20));

/** More than the session's mode, for one command: hosts, and folders or files to write. */
export const beyond = z.strictObject({ hosts: hosts.optional(), write: folders.optional(), reason: z.string() });

/** What a person is asked for: exactly that is granted. */
export async function asked(
  files: Files,
  { hosts: wanted = [], write = [], reason }: z.infer<typeof beyond>,
  cwd: string,
  { confinement }: CallContext,
): Promise<NonNullable<CallPlan["asks"]> | CallRefusal> {
  if (confinement.mode === "off") return refuse("Commands aren't confined in this session: run it with run_command. Nothing was run.");
  if (wanted.length === 0 && write.length === 0) return refuse("Name a host in hosts, or a folder or file in write. Nothing was run.");
  const writable: string[] = [];
  for (const path of write) {
    const place = await placeOf(files, cwd, path);
    if (isRefusal(place)) return place;
    if (place.identity.kind === "missing") return refuse(`write: ${place.real} isn't there; name its folder. Nothing was run.`);
    if (place.real === "/") return refuse("write: the whole machine can't be asked for. Nothing was run.");
    writable.push(place.real);
  }
  return { scope: { ...(wanted.length > 0 && { network: wanted }), ...(writable.length > 0 && { writable }) }, why: reason };
}
