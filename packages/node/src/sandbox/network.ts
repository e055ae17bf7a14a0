import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Confinement } from "@holdfast/runtime/ports/processes";
import { reachOf } from "@holdfast/runtime/network/hosts";
import type { Reach, Resolve } from "@holdfast/runtime/network/hosts";
import { resolveByDns } from "../network/resolve.ts";
import { bridgeProxy, endNamespace, joinNamespace, proxyPort } from "./namespace.ts";
import type { Mount } from "./mounts.ts";
import type { SandboxPrograms } from "./problem.ts";
import type { HostProxy, openProxy, RefusedHost } from "./proxy.ts";
import type { Standing } from "./view.ts";

/** What a command may reach: nothing, or what its pass says. */
export type CommandReach = "none" | Reach;

/**
 * The session's network, widened by exactly what was approved. `all` is every public address: the machine's own loopback, its
 * neighbours and a cloud's metadata service are reached where an entry names them.
 */
export function commandReach({ network, scope }: Pick<Confinement, "network" | "scope">): CommandReach {
  const reach = reachOf(network, scope.network);
  return reach.isOpen || reach.hosts.length > 0 ? reach : "none";
}

export interface Pass {
  readonly token: string;
  readonly reach: Reach;
}

/** What a run needs to be on its network: bubblewrap's arguments, what goes before bubblewrap, variables, and its pass. */
export interface Link {
  readonly before: readonly string[];
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly pass: Pass | null;
  /** The view of the files that its commands share; null where a run has its own. */
  readonly view: Standing | null;
}

/** Owns the proxies in this process and the namespaces' processes, by folder. Calls for one folder go one after another. */
export interface Networks {
  /**
   * `session`: the folder with the note of who uses it. `ground` is what its commands see; null for a run that shares nothing.
   * `seesItself`: this run shares the network alone, and has a view of its own.
   */
  link(
    folder: string,
    session: string,
    reach: CommandReach,
    ground: (() => Mount[]) | null,
    programs: SandboxPrograms,
    seesItself?: boolean,
  ): Promise<Link>;
  /** Lets a run that an earlier process started go on reaching its hosts. */
  restore(folder: string, pass: Pass): Promise<void>;
  withdraw(folder: string, pass: Pass): void;
  /** What was refused so far to whoever showed this pass. */
  refusals(folder: string, pass: Pass): Promise<readonly RefusedHost[]>;
  end(folder: string): Promise<void>;
}

export function createNetworks(home: string, resolve: Resolve = resolveByDns): Networks {
  const proxies = new Map<string, Promise<HostProxy>>();
  const turns = new Map<string, Promise<unknown>>();

  const inTurn = <T>(folder: string, work: () => Promise<T>): Promise<T> => {
    const mine = (turns.get(folder) ?? Promise.resolve()).then(work, work);
    turns.set(
      folder,
      mine.catch(() => undefined),
    );
    return mine;
  };
  const proxyFor = (folder: string): Promise<HostProxy> => {
    const known = proxies.get(folder);
    if (known !== undefined) return known;
    const open = loadProxy(socketPath(home, folder), resolve);
    proxies.set(folder, open);
    // One that could not be opened, as on a full disk, is none: the next run tries again, and there is nothing to end.
    open.catch(() => proxies.delete(folder));
    return open;
  };

  return {
    link: (folder, session, reach, ground, programs, seesItself = false) =>
      inTurn(folder, async () => {
        const isAlone = reach === "none" && ground === null;
        if (isAlone) return { before: [], args: ["--unshare-net"], environment: {}, pass: null, view: null };
        const joined = await joinNamespace(folder, session, programs, ground);
        const { command, view } = seesItself ? { command: joined.network, view: null } : joined;
        if (reach === "none") return { before: command, args: [], environment: {}, pass: null, view };
        await bridgeProxy(folder, programs, socketPath(home, folder));
        const pass = { token: randomBytes(16).toString("hex"), reach };
        (await proxyFor(folder)).allow(pass.token, pass.reach);
        return { before: command, args: [], environment: proxyVariables(pass.token, programs.socat ?? "socat"), pass, view };
      }),
    restore: (folder, pass) => inTurn(folder, async () => (await proxyFor(folder)).allow(pass.token, pass.reach)),
    withdraw: (folder, pass) =>
      void proxies.get(folder)?.then(
        (proxy) => proxy.forbid(pass.token),
        () => undefined,
      ),
    refusals: async (folder, pass) => (await proxies.get(folder))?.refusals(pass.token) ?? [],
    end: (folder) =>
      inTurn(folder, async () => {
        endNamespace(folder);
        const proxy = proxies.get(folder);
        proxies.delete(folder);
        if (proxy === undefined) return;
        await (await proxy).close();
        rmSync(socketPath(home, folder), { force: true });
      }),
  };
}

/** Node's HTTP server is loaded where some host is allowed. */
async function loadProxy(...input: Parameters<typeof openProxy>): Promise<HostProxy> {
  return (await import("./proxy.ts")).openProxy(...input);
}

/**
 * ssh is told how to ask for a tunnel. What can only speak SOCKS finds the same proxy under a name of its own: ALL_PROXY
 * would make clients fail that lack their library for it.
 */
function proxyVariables(token: string, socat: string): Record<string, string> {
  // Some clients send nothing at all unless there is a user and a password.
  const at = `holdfast:${token}@127.0.0.1:${proxyPort}`;
  const [proxy, socks] = [`http://${at}`, `socks5h://${at}`];
  const direct = "localhost,127.0.0.1,::1";
  return {
    HTTP_PROXY: proxy,
    http_proxy: proxy,
    HTTPS_PROXY: proxy,
    https_proxy: proxy,
    ALL_PROXY: proxy,
    all_proxy: proxy,
    SOCKS_PROXY: socks,
    NO_PROXY: direct,
    no_proxy: direct,
    NODE_USE_ENV_PROXY: "1",
    GIT_SSH_COMMAND: `ssh -oBatchMode=yes -oProxyCommand='${socat} - PROXY:127.0.0.1:%h:%p,proxyport=${proxyPort},proxyauth=holdfast:${token}'`,
  };
}

/** The same for the same folder, also in another process. A socket's path has 108 bytes at most. */
function socketPath(home: string, folder: string): string {
  const name = `${createHash("sha256").update(folder).digest("hex").slice(0, 16)}.sock`;
  const own = join(home, "commands", "sockets");
  if (join(own, name).length > 100) return join(shortFolder(), name);
  mkdirSync(own, { recursive: true, mode: 0o700 });
  return join(own, name);
}

let madeFolder: string | undefined;
function shortFolder(): string {
  madeFolder ??= mkdtempSync(join(tmpdir(), "holdfast-"));
  return madeFolder;
}
