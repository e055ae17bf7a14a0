import { HoldfastError } from "@holdfast/protocol/error";
import type { Wire } from "./wire.ts";

/**
 * The address below a base URL, with or without a slash at its end; a query (`?api-version=…`) stays behind the path. `id` is
 * the model's name, for the message. Throws `config_invalid` for a base URL that is none.
 */
export function addressBelow(baseUrl: string, wire: Pick<Wire, "path" | "version">, id: string): string {
  const url = URL.parse(baseUrl.trim());
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
    throw new HoldfastError("config_invalid", `the base URL for ${id} is not an http(s) address`, {
      hint: "It looks like https://api.openai.com/v1.",
    });
  }
  if (url.username !== "" || url.password !== "") {
    throw new HoldfastError("config_invalid", `the base URL for ${id} holds a user name or password`, { hint: "Give the key by itself." });
  }
  const [path = "", query = ""] = wire.path.split("?");
  const root = url.pathname.replace(/\/+$/, "");
  const version = wire.version === null || /\/v\d+[a-z0-9]*$/.test(root) ? "" : `/${wire.version}`;
  url.pathname = root + version + path;
  for (const [name, value] of new URLSearchParams(query)) url.searchParams.set(name, value);
  url.hash = "";
  return url.href;
}
