import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Confinement } from "@holdfast/runtime/ports/processes";
import type { Resolve } from "@holdfast/runtime/network/hosts";
import { resolveByDns } from "../network/resolve.ts";
import { bridgeProxy, endNamespace, joinNamespace, proxyPort } from "./namespace.ts";
import type { SandboxPrograms } from "./problem.ts";
import { openProxy } from "./proxy.ts";
import type { HostProxy } from "./proxy.ts";

/** What a command may reach: nothing, the hosts named, or the machine's own network. */
export type Reach = "none" | "all" | readonly string[];

/** The session's network, widened by exactly what was approved. */
export function reachOf(confinement: Confinement): Reach {
  const { network, scope } = confinement;
  if (network === "all" || scope.network === "all") return "all";
  const hosts = [...(network === "none" ? [] : network), ...(scope.network ?? [])];
  return hosts.length === 0 ? "none" : hosts;
}

export interface Pass {
  readonly token: string;
  readonly hosts: readonly string[];
}

/** What a run needs to be on its network: bubblewrap's arguments, what goes before bubblewrap, variables, and its pass. */
export interface Link {
  readonly before: readonly string[];
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly pass: Pass | null;
}

/** Owns the proxies in this process and the namespaces' processes, by folder. Calls for one folder go one after another. */
export interface Networks {
  link(folder: string, reach: Reach, isShared: boolean, programs: SandboxPrograms): Promise<Link>;
  /** Lets a run that an earlier process started go on reaching its hosts. */
  restore(folder: string, pass: Pass): Promise<void>;
  withdraw(folder: string, pass: Pass): void;
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
    const open = proxies.get(folder) ?? openProxy(socketPath(home, folder), resolve);
    proxies.set(folder, open);
    return open;
  };

  return {
    link: (folder, reach, isShared, programs) =>
      inTurn(folder, async () => {
        if (reach === "all") return { before: [], args: [], environment: {}, pass: null };
        if (reach === "none") {
          if (!isShared) return { before: [], args: ["--unshare-net"], environment: {}, pass: null };
          return { before: (await joinNamespace(folder, programs)).command, args: [], environment: {}, pass: null };
        }
        const { command } = await joinNamespace(folder, programs);
        await bridgeProxy(folder, programs, socketPath(home, folder));
        const pass = { token: randomBytes(16).toString("hex"), hosts: reach };
        (await proxyFor(folder)).allow(pass.token, pass.hosts);
        return { before: command, args: [], environment: proxyVariables(pass.token), pass };
      }),
    restore: (folder, pass) => inTurn(folder, async () => (await proxyFor(folder)).allow(pass.token, pass.hosts)),
    withdraw: (folder, pass) => void proxies.get(folder)?.then((proxy) => proxy.forbid(pass.token)),
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

function proxyVariables(token: string): Record<string, string> {
  // Some clients send nothing at all unless there is a user and a password.
  const proxy = `http://holdfast:${token}@127.0.0.1:${proxyPort}`;
  const direct = "localhost,127.0.0.1,::1";
  return {
    HTTP_PROXY: proxy,
    http_proxy: proxy,
    HTTPS_PROXY: proxy,
    https_proxy: proxy,
    ALL_PROXY: proxy,
    NO_PROXY: direct,
    no_proxy: direct,
    NODE_USE_ENV_PROXY: "1",
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
