import type { Scope } from "@holdfast/protocol/decision";
import { normalHost, reachOf } from "@holdfast/runtime/network/hosts";
import type { Reach } from "@holdfast/runtime/ports/network";
import type { CallContext, CallRefusal } from "@holdfast/runtime/ports/tool-host";
import { z } from "zod";
import { refuse } from "../define.ts";

/** A URL in its normal form: punycode for a name that isn't ASCII, an address as it is meant, no fragment. */
export function httpUrl() {
  return z.preprocess((value) => {
    if (typeof value !== "string" || !URL.canParse(value.trim())) return value;
    const url = new URL(value.trim());
    url.hash = "";
    return url.href;
  }, z.string());
}

export interface Target {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** `host:NAME:PORT`: what policy is asked about, and what calls conflict over. */
  readonly resource: string;
}

export function targetOf(text: string): Target | CallRefusal {
  if (!URL.canParse(text)) return refuse(`url: ${JSON.stringify(text.slice(0, 200))} is not an absolute URL. Nothing was sent.`);
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return refuse(`url: only http: and https: are reached, not ${url.protocol} Nothing was sent.`);
  }
  if (url.username !== "" || url.password !== "") {
    return refuse("url: a user or password doesn't belong into a URL. Use an Authorization header with a secret. Nothing was sent.");
  }
  const host = normalHost(url.hostname);
  if (host === null) return refuse(`url: ${url.hostname} is not a host. Nothing was sent.`);
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  return { url: url.href, host, port, resource: `host:${host}:${port}` };
}

/** The session's network, widened by exactly what was approved. */
export function reachFor({ confinement }: CallContext, scope: Scope): Reach {
  return reachOf(confinement.network, scope.network);
}
