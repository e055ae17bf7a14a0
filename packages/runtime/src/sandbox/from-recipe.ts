import { HoldfastError } from "@holdfast/protocol/error";
import type { Clock, Sandbox, SandboxHealth, SandboxLife, SandboxRecipe, SavedSandbox, SecretStore } from "../ports/index.ts";

/** What whoever offers sandboxes has to be able to do. Each throws `sandbox_lost` where the sandbox has ended. */
export interface SandboxProvider {
  /** See `Sandbox`. */
  readonly keepsFiles?: boolean;
  create(session: string): Promise<SandboxLife>;
  find(id: string): Promise<SandboxLife | null>;
  /** Puts the workspace's files there as they were saved. */
  restore(id: string, snapshot: string): Promise<void>;
  /** Runs a line for the shell in the workspace. */
  run(id: string, line: string): Promise<{ readonly exitCode: number | null; readonly text: string }>;
  /** Brings a secret to where commands find it under this name. */
  give(id: string, name: string, value: string): Promise<void>;
  prolong(id: string): Promise<SandboxLife | null>;
  save(id: string): Promise<SavedSandbox>;
  /** Digest of the workspace's files. */
  digest(id: string): Promise<string>;
}

/** A credential that ends sooner than this is renewed before work goes on, ms. */
const leastLeftMs = 300_000;
/** The end of an install's output is enough to say why it failed. */
const shownChars = 500;

/** The sandbox of a provider, made again as the recipe says: create, restore, install, fresh credentials, and a look whether it is well. */
export function sandboxFromRecipe(
  provider: SandboxProvider,
  recipe: SandboxRecipe,
  { secrets, clock }: { readonly secrets: SecretStore; readonly clock: Clock },
): Sandbox {
  /** When what was given to a sandbox ends, by sandbox and name. */
  const given = new Map<string, number | null>();

  const credentials = async (id: string): Promise<Pick<SandboxHealth, "problems" | "renewed">> => {
    const [problems, renewed]: [string[], string[]] = [[], []];
    for (const name of recipe.credentials) {
      const key = `${id}\n${name}`;
      const known = given.get(key);
      const isFresh = (at: number | null): boolean => at === null || at - clock.now() > leastLeftMs;
      if (known !== undefined && isFresh(known)) continue;
      const found = await secrets.get(name);
      if (found === null || !isFresh(found.expiresAt)) {
        problems.push(found === null ? `there is no credential ${name}` : `the credential ${name} has expired, or is about to`);
        continue;
      }
      await provider.give(id, name, found.value);
      if (known !== undefined) renewed.push(name);
      given.set(key, found.expiresAt);
    }
    return { problems, renewed };
  };

  const missingTools = async (id: string): Promise<string[]> => {
    if (recipe.tools.length === 0) return [];
    const names = recipe.tools.map((tool) => `'${tool.replaceAll("'", "'\\''")}'`).join(" ");
    const { text } = await provider.run(id, `for tool in ${names}; do command -v "$tool" >/dev/null || echo "$tool"; done`);
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((tool) => `there is no program ${tool}`);
  };

  return {
    keepsFiles: provider.keepsFiles === true,
    find: (id) => provider.find(id),
    prolong: (id) => provider.prolong(id),
    save: (id) => provider.save(id),
    open: async (session, snapshot) => {
      const life = await provider.create(session);
      if (snapshot !== null) await provider.restore(life.id, snapshot);
      // What installs may need them.
      const { problems } = await credentials(life.id);
      if (problems.length > 0) throw new HoldfastError("sandbox_unavailable", `The sandbox can't be made: ${problems.join("; ")}.`);
      for (const line of recipe.install) {
        const { exitCode, text } = await provider.run(life.id, line);
        if (exitCode !== 0) {
          throw new HoldfastError(
            "sandbox_unavailable",
            `The sandbox can't be made: ${line} ended with ${exitCode ?? "a signal"}.\n${text.slice(-shownChars)}`,
            {
              hint: "See [sandbox.reconstitute] in the config.",
            },
          );
        }
      }
      return life;
    },
    check: async (id) => {
      const [missing, { problems, renewed }] = [await missingTools(id), await credentials(id)];
      return { subject: await provider.digest(id), problems: [...missing, ...problems], renewed };
    },
  };
}
