import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Mount } from "./mounts.ts";

export interface CacheInput {
  /** The session's own folder, or a check's fresh one. */
  readonly cache: string;
  readonly isOffline: boolean;
  readonly isCheck: boolean;
  readonly userHome: string;
  readonly parent: Readonly<Record<string, string | undefined>>;
  readonly roots: readonly string[];
  /** Where our own programs are looked for. */
  readonly outerPath: string;
}

/**
 * Where toolchains keep what they download and build: in the session's own cache folder, or in a check's fresh one.
 *
 * Packages the user has already downloaded: without a network they are the only ones there can be, so the toolchain reads
 * the user's own, read-only in its usual place, and is told to be offline (it fails at once instead of trying). With a
 * network, npm, cargo and pip start from an empty cache of the session; Go takes the user's downloads as its first proxy.
 */
export async function caches(
  input: CacheInput,
): Promise<{ readonly environment: Record<string, string>; readonly mounts: readonly Mount[] }> {
  const at = (name: string): string => join(input.cache, name);
  const environment: Record<string, string> = {
    XDG_CACHE_HOME: at("xdg"),
    npm_config_cache: at("npm"),
    YARN_CACHE_FOLDER: at("yarn"),
    BUN_INSTALL_CACHE_DIR: at("bun"),
    DENO_DIR: at("deno"),
    PIP_CACHE_DIR: at("pip"),
    UV_CACHE_DIR: at("uv"),
    GOCACHE: at("go-build"),
    GRADLE_USER_HOME: at("gradle"),
    CCACHE_DIR: at("ccache"),
    // Bytecode that lies in the workspace could be of other sources than those that are checked.
    ...(input.isCheck ? { PYTHONPYCACHEPREFIX: at("python") } : {}),
  };
  if (input.isOffline) {
    const npm = await offlineNpm(input);
    return {
      environment: { ...environment, ...npm.environment, npm_config_offline: "true", CARGO_NET_OFFLINE: "true", GOPROXY: "off" },
      mounts: npm.mounts,
    };
  }
  const userGo = join(input.parent["GOPATH"] ?? join(input.userHome, "go"), "pkg/mod/cache/download");
  const proxies = existsSync(userGo) ? [`file://${userGo}`] : [];
  return {
    environment: {
      ...environment,
      CARGO_HOME: at("cargo"),
      GOMODCACHE: at("go-mod"),
      GOFLAGS: "-modcacherw",
      GOPROXY: [...proxies, "https://proxy.golang.org", "direct"].join(","),
    },
    mounts: [],
  };
}

/**
 * npm has one cache folder and rewrites its index even to read it. So, once a session with a package.json and unless the
 * session downloaded something itself, the user's index is copied; the content, which is most of it, is shown read-only.
 */
async function offlineNpm({
  cache,
  isCheck,
  userHome,
  parent,
  roots,
  outerPath,
}: CacheInput): Promise<{ environment: Record<string, string>; mounts: Mount[] }> {
  const users = join(parent["npm_config_cache"] ?? join(userHome, ".npm"), "_cacache");
  const own = join(cache, "npm-offline/_cacache");
  const isUseful =
    !isCheck && roots.some((root) => existsSync(join(root, "package.json"))) && !existsSync(join(cache, "npm/_cacache/index-v5"));
  const [index, content] = [join(own, "index-v5"), join(own, "content-v2")];
  if (!isUseful || !existsSync(join(users, "content-v2"))) return { environment: {}, mounts: [] };
  if (!existsSync(index)) {
    mkdirSync(content, { recursive: true, mode: 0o700 });
    const copy = `${index}.${randomBytes(4).toString("hex")}`;
    await promisify(execFile)("cp", ["-R", join(users, "index-v5"), copy], { env: { PATH: outerPath } }).catch(() => undefined);
    try {
      renameSync(copy, index);
    } catch {
      // Another command of the session was first, or there is no index: npm makes do with what is there.
      await rm(copy, { recursive: true, force: true });
    }
  }
  return {
    environment: { npm_config_cache: join(cache, "npm-offline") },
    mounts: [{ type: "bind", from: join(users, "content-v2"), to: content, writable: false }],
  };
}
