import { BlockList, isIP } from "node:net";

/** Addresses that mean this machine, its neighbours, or a cloud's own services, and not a host of the internet. */
const inside4 = new BlockList();
// A list of its own: one that holds IPv4 written as IPv6 would hold every IPv4 address.
const inside6 = new BlockList();
for (const [network, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  // Carriers' own network; some clouds answer metadata at 100.100.100.200.
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  // Link-local, with the metadata service of most clouds at 169.254.169.254.
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const) {
  inside4.addSubnet(network, bits, "ipv4");
}
for (const [network, bits] of [
  // Unspecified, loopback, and IPv4 written as IPv6.
  ["::", 96],
  ["::ffff:0:0", 96],
  // NAT64, 6to4 and Teredo carry IPv4 addresses inside.
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001::", 32],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
] as const) {
  inside6.addSubnet(network, bits, "ipv6");
}

/** True for a public unicast address. Anything that is no address is not public. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 0) return false;
  return family === 4 ? !inside4.check(address, "ipv4") : !inside6.check(address, "ipv6");
}
