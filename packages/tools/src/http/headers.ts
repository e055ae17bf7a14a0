import { isNamedHost } from "@holdfast/runtime/network/hosts";
import type { SecretStore } from "@holdfast/runtime/ports/secrets";
import type { CallRefusal } from "@holdfast/runtime/ports/tool-host";
import { z } from "zod";
import { decoded } from "../input.ts";
import { refuse } from "../define.ts";
import type { Target } from "./target.ts";

const value = z.union([z.string(), z.strictObject({ secret: z.string().min(1), prefix: z.string().optional() })]);
export type HeaderInput = Readonly<Record<string, z.infer<typeof value>>>;

export function headersInput() {
  return decoded(z.record(z.string(), value))
    .optional()
    .describe('name to text, or to {"secret": NAME, "prefix": "Bearer "} for a value that the user keeps under that name');
}

/** What concerns the connection, and the key that the runtime sets itself. */
const reserved =
  /^(?:host|content-length|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|accept-encoding|idempotency-key|proxy-.*)$/i;
/** RFC 9110, 5.6.2 and 5.5: no control characters, so that no value can begin a header or a request of its own. */
const nameForm = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const valueForm = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Null where the headers can be sent to this target as they are; no secret is read but to see that it is there. */
export async function headerProblem(headers: HeaderInput, target: Target, secrets: SecretStore): Promise<CallRefusal | null> {
  for (const [name, text] of Object.entries(headers)) {
    const shown = JSON.stringify(name.slice(0, 100));
    if (!nameForm.test(name)) return refuse(`headers: ${shown} is no header name. Nothing was sent.`);
    if (reserved.test(name)) return refuse(`headers: ${shown} is set by the runtime. Nothing was sent.`);
    if (typeof text === "string") {
      if (!valueForm.test(text))
        return refuse(`headers: the value of ${shown} holds a character that no header can have. Nothing was sent.`);
      continue;
    }
    if (!valueForm.test(text.prefix ?? "")) return refuse(`headers: the prefix of ${shown} holds a character that no header can have.`);
    const secret = await secrets.get(text.secret);
    if (secret?.hosts === undefined)
      return refuse(`headers: there is no secret ${JSON.stringify(text.secret)} for calls. Nothing was sent.`);
    if (!isNamedHost(target.host, target.port, secret.hosts)) {
      return refuse(`headers: the secret ${text.secret} is only for ${secret.hosts.join(", ")}. Nothing was sent to ${target.host}.`);
    }
  }
  return null;
}

/** The headers with their secrets, and the values of those. Refuses as `headerProblem` does: what was decided may be long ago. */
export async function resolveHeaders(
  headers: HeaderInput,
  target: Target,
  secrets: SecretStore,
): Promise<{ readonly pairs: readonly (readonly [string, string])[]; readonly used: readonly string[] } | CallRefusal> {
  const problem = await headerProblem(headers, target, secrets);
  if (problem !== null) return problem;
  const used: string[] = [];
  const pairs: (readonly [string, string])[] = [];
  for (const [name, text] of Object.entries(headers)) {
    if (typeof text === "string") {
      pairs.push([name, text.trim()]);
      continue;
    }
    const secret = (await secrets.get(text.secret))?.value ?? "";
    if (!valueForm.test(secret)) return refuse(`headers: the secret ${text.secret} holds a character that no header can have.`);
    used.push(secret);
    pairs.push([name, `${text.prefix ?? ""}${secret}`]);
  }
  return { pairs, used };
}
