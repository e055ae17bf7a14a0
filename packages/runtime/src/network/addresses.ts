/** Addresses that mean this machine, its neighbours, or a cloud's own services, and not a host of the internet. */
const inside = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  // Carriers' own network; some clouds answer metadata at 100.100.100.200.
  "100.64.0.0/10",
  "127.0.0.0/8",
  // Link-local, with the metadata service of most clouds at 169.254.169.254.
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  // Unspecified, loopback, and IPv4 written as IPv6.
  "::/96",
  "::ffff:0:0/96",
  // NAT64, 6to4 and Teredo carry IPv4 addresses inside.
  "64:ff9b::/96",
  "64:ff9b:1::/48",
  "100::/64",
  "2001::/32",
  "2001:db8::/32",
  "2002::/16",
  "fc00::/7",
  "fe80::/10",
  "fec0::/10",
  "ff00::/8",
].map(networkOf);

/** Where clouds hand out a machine's credentials: link-local, and the few fixed places beside it. */
const metadata = ["169.254.0.0/16", "fe80::/10", "100.100.100.200/32", "fd00:ec2::254/128"].map(networkOf);

const carriers = ["::/96", "::ffff:0:0/96", "64:ff9b::/96"].map(networkOf);

interface AddressNetwork {
  readonly bytes: readonly number[];
  readonly bits: number;
}

function networkOf(text: string): AddressNetwork {
  const [base = "", bits = ""] = text.split("/");
  return { bytes: bytesOf(base) ?? [], bits: Number(bits) };
}

/** True for a public unicast address. Anything that is no address is not public. */
export function isPublicAddress(address: string): boolean {
  const bytes = bytesOf(address);
  return bytes !== null && !inside.some((network) => isWithin(bytes, network));
}

/** True for an address of a cloud's metadata service, also where IPv6 carries it (mapped, or NAT64). */
export function isMetadataAddress(address: string): boolean {
  const bytes = bytesOf(address);
  if (bytes === null) return false;
  const carried = carriers.some((network) => isWithin(bytes, network)) ? bytes.slice(12) : bytes;
  return metadata.some((network) => isWithin(carried, network));
}

/** 4 for `a.b.c.d`, 6 for an IPv6 address without brackets and zone, else 0. */
export function addressFamily(text: string): 0 | 4 | 6 {
  const bytes = bytesOf(text);
  return bytes === null ? 0 : bytes.length === 4 ? 4 : 6;
}

function isWithin(bytes: readonly number[], network: AddressNetwork): boolean {
  if (network.bytes.length !== bytes.length) return false;
  return network.bytes.every((byte, at) => {
    const bits = Math.min(8, Math.max(0, network.bits - 8 * at));
    const mask = 0xff & (0xff00 >> bits);
    return ((bytes[at] ?? 0) & mask) === (byte & mask);
  });
}

function bytesOf(text: string): number[] | null {
  return text.includes(":") ? bytesOf6(text) : bytesOf4(text);
}

function bytesOf4(text: string): number[] | null {
  const parts = text.split(".");
  const isPlain = parts.length === 4 && parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256);
  return isPlain ? parts.map(Number) : null;
}

/** RFC 4291, 2.2: eight groups, one run of zeros left out, the last two groups maybe written as IPv4. */
function bytesOf6(text: string): number[] | null {
  const tail = /^(.*:)([^:]+\.[^:]+)$/.exec(text);
  const last = tail === null ? [] : bytesOf4(tail[2] ?? "");
  if (last === null) return null;
  const hex = (byte: number | undefined) => (byte ?? 0).toString(16).padStart(2, "0");
  const plain = tail === null ? text : `${tail[1]}${hex(last[0])}${hex(last[1])}:${hex(last[2])}${hex(last[3])}`;
  const halves = plain.split("::");
  if (halves.length > 2) return null;
  const [before = [], after = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - before.length - after.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null;
  const groups = [...before, ...Array.from({ length: missing }, () => "0"), ...after];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null;
  return groups.flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}
