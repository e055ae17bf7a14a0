import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Mount } from "./mounts.ts";

/**
 * Where toolchains keep what they download and build: in the session's own cache folder, or in a check's fresh one.
 *
 * Packages the user has already downloaded: without a network they are the only ones there can be, so the toolchain reads
 * the user's own, read-only in its usual place, and is told to be offline (it fails at once instead of trying). npm insists on
 * one folder, so the user's download cache is shown, read-only, inside the session's; unless the session has
 * downloaded something itself. With a network, npm, cargo and pip start from an empty cache of the session; Go takes
 * the user's downloads as its first proxy.
 */
export function caches(
  cache: string,
  isOffline: boolean,
  userHome: string,
  parent: Readonly<Record<string, string | undefined>>,
): { readonly environment: Record<string, string>; readonly mounts: readonly Mount[] } {
  const at = (name: string): string => join(cache, name);
  const userNpm = join(parent["npm_config_cache"] ?? join(userHome, ".npm"), "_cacache");
  const userGo = join(parent["GOPATH"] ?? join(userHome, "go"), "pkg/mod/cache/download");
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
  };
  if (isOffline) {
    const own = join(at("npm"), "_cacache");
    const shows = existsSync(userNpm) && !existsSync(join(own, "index-v5"));
    if (shows) mkdirSync(own, { recursive: true, mode: 0o700 });
    return {
      environment: { ...environment, npm_config_offline: "true", CARGO_NET_OFFLINE: "true", GOPROXY: "off" },
      mounts: shows ? [{ type: "bind", from: userNpm, to: own, writable: false }] : [],
    };
  }
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
