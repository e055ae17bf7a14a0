import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Dice } from "./dice.ts";
import { slowness } from "./lives.ts";

interface Sale {
  readonly place: string;
  readonly mark: string;
  readonly key: string;
}

/** Two shops on loopback that write down what they are asked to do: one goes by keys, to the other each request is a new one. */
export interface Shops {
  readonly keyed: string;
  readonly plain: string;
  /** How often something was sold: of the keyed shop's requests those with the same key count once. */
  sold(place: string, mark: string): number;
  /** Told of each request of a place as it arrives. */
  onRequest(place: string, listener: () => void): void;
  close(): void;
}

/** Now and then an answer is lost, comes too late or from a gateway, after the sale. */
export async function openShops(random: Dice): Promise<Shops> {
  const sales: Sale[] = [];
  const listeners = new Map<string, () => void>();
  const open = (isKeyed: boolean): Server =>
    createServer((request, response) => {
      const [, place = "", mark = ""] = (request.url ?? "").split("/");
      const key = isKeyed ? String(request.headers["idempotency-key"]) : `${sales.length}`;
      const isNew = !sales.some((sale) => sale.place === place && sale.mark === mark && sale.key === key);
      if (request.method === "POST" && isNew) sales.push({ place, mark, key });
      request.resume();
      listeners.get(place)?.();
      const fate = random.next();
      if (fate < 0.06) setTimeout(() => request.socket.destroy(), random.whole(20));
      else if (fate < 0.08) return;
      else if (fate < 0.1) response.writeHead(504).end();
      else {
        // A list of prices is too long for a result: the whole is kept apart. No two are the same.
        const said = request.method === "POST" ? "sold" : `${place} ${mark}\n${`${random.whole(1_000_000)}\n`.repeat(6_000)}`;
        setTimeout(() => response.writeHead(201).end(said), Math.min(400, random.whole(80) * slowness()));
      }
    });
  const listen = async (server: Server): Promise<string> => {
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const servers = [open(true), open(false)] as const;
  const [keyed, plain] = [await listen(servers[0]), await listen(servers[1])];
  return {
    keyed,
    plain,
    sold: (place, mark) => sales.filter((sale) => sale.place === place && sale.mark === mark).length,
    onRequest: (place, listener) => void listeners.set(place, listener),
    close: () => {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}
