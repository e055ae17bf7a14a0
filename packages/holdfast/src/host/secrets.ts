import type { SecretStore } from "@holdfast/runtime";
import type { Config } from "../config/config.ts";
import { secretValues } from "../config/provider.ts";
import { endpointOf } from "../config/model-choice.ts";

/** Keys of providers by the provider's name, from the environment and the config. `others` are hidden as well. */
export function createSecrets(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
  others: readonly string[] = [],
): SecretStore {
  const values = [...secretValues(config, env), ...others];
  return {
    get: async (provider) => {
      const { apiKey } = endpointOf(`${provider}/any`, config, env);
      return apiKey === null ? null : { value: apiKey, expiresAt: null };
    },
    values: () => values,
  };
}
