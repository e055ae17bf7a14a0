import { connect, isIPv6 } from "node:net";
import type { LookupFunction, Socket } from "node:net";

/** A connection to one of addresses that were checked, whatever the name may lead to by now. */
export function connectTo(addresses: readonly string[], port: number): Socket {
  const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  const lookup: LookupFunction = (_name, { all }, done) => {
    const [first] = found;
    if (all === true) done(null, found);
    else done(null, first?.address ?? "", first?.family ?? 4);
  };
  return connect({ host: "pinned.invalid", port, lookup, autoSelectFamily: true });
}

/** Passes bytes both ways until either side ends. */
export function join(client: Socket, onward: Socket): void {
  onward.pipe(client);
  client.pipe(onward);
  onward.on("error", () => client.destroy());
  onward.on("close", () => client.destroy());
  client.on("error", () => onward.destroy());
  client.on("close", () => onward.destroy());
}
