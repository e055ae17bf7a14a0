import type { Arguments, CommandSpec } from "../../cli/command.ts";
import type { Io } from "../../cli/io.ts";
import type { Hosts, OpenHost, OpenStore } from "../../runtime-api.ts";
import type { Setup } from "../../session/start.ts";

/** What each verb of `holdfast sessions` is given. */
export interface Call {
  readonly spec: CommandSpec;
  readonly given: Arguments;
  readonly io: Io;
  readonly hosts: Hosts;
  readonly setup: Setup;
}

export async function withStore<T>({ hosts, setup }: Call, use: (store: OpenStore) => Promise<T>): Promise<T> {
  const store = await hosts.openStore(setup);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

/** A host that works in no folder. */
export async function withHost<T>({ hosts, setup, io }: Call, use: (host: OpenHost) => Promise<T>): Promise<T> {
  const host = await hosts.openHost(setup, { cwd: io.cwd, roots: [] });
  try {
    return await use(host);
  } finally {
    await host.close();
  }
}
