import type { SecretStore } from "@holdfast/runtime/ports/secrets";
import { createNetwork } from "@holdfast/node/network/index";
import type { HttpPorts } from "../src/index.ts";

/** The real network of this machine, and secrets of a table: value, then the hosts they are for (none: not for calls). */
export function httpPorts(
  secrets: Readonly<Record<string, readonly [value: string, ...hosts: string[]]>> = {},
  more: Partial<HttpPorts> = {},
): HttpPorts {
  const store: SecretStore = {
    async get(name) {
      const found = secrets[name];
      if (found === undefined) return null;
      const [value, ...hosts] = found;
      return { value, expiresAt: null, ...(hosts.length > 0 && { hosts }) };
    },
    values: () => Object.values(secrets).map(([value]) => value),
  };
  return { network: createNetwork(), secrets: store, secretNames: Object.keys(secrets), keyedHosts: [], search: null, ...more };
}
