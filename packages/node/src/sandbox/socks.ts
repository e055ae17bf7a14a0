import type { Socket } from "node:net";
import type { HostAnswer } from "@holdfast/runtime/network/hosts";
import { connectTo, join } from "./pinned.ts";

/** SOCKS5 (RFC 1928) with a user's name and password (RFC 1929), CONNECT alone. The first byte that a client sends. */
export const socksVersion = 5;

const methods = { password: 2, none: 0xff } as const;
const connectCommand = 1;
const addressTypes = { ipv4: 1, name: 3, ipv6: 4 } as const;
const replies = { succeeded: 0, failed: 1, notAllowed: 2, unreachable: 4, commandUnknown: 7, addressUnknown: 8 } as const;

type Answer = (token: string | null, host: string, port: number) => Promise<HostAnswer>;

/** Serves one client. Its password names the run, as the proxy's HTTP password does. */
export async function serveSocks(client: Socket, answer: Answer): Promise<void> {
  client.on("error", () => client.destroy());
  try {
    const read = reader(client);
    const [, methodCount = 0] = await read(2);
    const offered = await read(methodCount);
    if (!offered.includes(methods.password)) {
      client.end(Buffer.from([socksVersion, methods.none]));
      return;
    }
    client.write(Buffer.from([socksVersion, methods.password]));
    const [, nameLength = 0] = await read(2);
    await read(nameLength);
    const [tokenLength = 0] = await read(1);
    const token = (await read(tokenLength)).toString("latin1");
    client.write(Buffer.from([1, 0]));
    const [, command, , type] = await read(4);
    const host = await hostOf(type, read);
    const port = (await read(2)).readUInt16BE(0);
    if (host === null) return reply(client, replies.addressUnknown);
    if (command !== connectCommand) return reply(client, replies.commandUnknown);
    const verdict = await answer(token, host, port);
    if (verdict.type !== "allowed") return reply(client, verdict.type === "refused" ? replies.notAllowed : replies.unreachable);
    const onward = connectTo(verdict.addresses, port);
    onward.once("connect", () => {
      reply(client, replies.succeeded);
      join(client, onward);
    });
    onward.once("error", () => reply(client, replies.unreachable));
    client.once("close", () => onward.destroy());
  } catch {
    client.destroy();
  }
}

async function hostOf(type: number | undefined, read: (count: number) => Promise<Buffer>): Promise<string | null> {
  switch (type) {
    case addressTypes.ipv4:
      return [...(await read(4))].join(".");
    case addressTypes.name:
      return (await read((await read(1))[0] ?? 0)).toString("latin1");
    case addressTypes.ipv6: {
      const bytes = await read(16);
      return Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2).toString(16)).join(":");
    }
    default:
      return null;
  }
}

function reply(client: Socket, code: number): void {
  const bytes = Buffer.from([socksVersion, code, 0, addressTypes.ipv4, 0, 0, 0, 0, 0, 0]);
  if (code === replies.succeeded) client.write(bytes);
  else client.end(bytes);
}

/** Reads so many bytes, as they come. Rejects where the client ends before. */
function reader(client: Socket): (count: number) => Promise<Buffer> {
  return async (count) => {
    for (;;) {
      const bytes = count === 0 ? Buffer.alloc(0) : (client.read(count) as Buffer | null);
      if (bytes !== null && bytes.length === count) return bytes;
      if (client.readableEnded || client.destroyed) throw new Error("the client has gone");
      await new Promise<void>((resolve) => {
        const go = (): void => {
          for (const name of ["readable", "end", "close"]) client.off(name, go);
          resolve();
        };
        for (const name of ["readable", "end", "close"]) client.on(name, go);
      });
    }
  };
}
