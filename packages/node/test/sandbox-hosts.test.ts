import { describe, expect, it } from "vitest";
import { isPublicAddress } from "@holdfast/runtime/network/addresses";
import { answerHost, normalHost } from "@holdfast/runtime/network/hosts";
import { mountArguments } from "@holdfast/node/sandbox/mounts";

const names: Record<string, string[]> = {
  "good.test": ["93.184.215.14"],
  "api.good.test": ["93.184.215.15"],
  "inside.test": ["10.0.0.7"],
  "rebound.test": ["169.254.169.254"],
  "mapped.test": ["::ffff:127.0.0.1"],
  "both.test": ["127.0.0.1", "93.184.215.16"],
  localhost: ["127.0.0.1"],
};
const resolve = async (name: string): Promise<string[]> => {
  const found = names[name];
  if (found === undefined) throw new Error("no such name");
  return found;
};
const address = async (host: string, port: number, allowed: string[]): Promise<string | null> => {
  const answer = await answerHost(host, port, { isOpen: false, hosts: allowed }, resolve);
  return answer.type === "allowed" ? answer.address : null;
};

describe("a host", () => {
  it("is reached only where an entry names it, at the address that was checked", async () => {
    expect(await address("good.test", 443, ["good.test"])).toBe("93.184.215.14");
    expect(await address("GOOD.test.", 443, ["good.TEST"])).toBe("93.184.215.14");
    expect(await address("api.good.test", 443, ["good.test"])).toBe(null);
    expect(await address("api.good.test", 443, ["*.good.test"])).toBe("93.184.215.15");
    expect(await address("good.test", 443, ["*.good.test"])).toBe(null);
    expect(await address("evilgood.test", 443, ["*.good.test", "good.test"])).toBe(null);
    expect(await address("good.test", 80, ["good.test:443"])).toBe(null);
    expect(await address("good.test", 443, ["good.test:443"])).toBe("93.184.215.14");
    expect(await address("unknown.test", 443, ["unknown.test"])).toBe(null);
    expect(await address("good.test@bad.test", 443, ["good.test"])).toBe(null);
    expect(await address("good.test", 443, [])).toBe(null);
  });

  it("that leads inside is refused unless that address is an entry itself", async () => {
    for (const name of ["inside.test", "rebound.test", "mapped.test"]) expect(await address(name, 80, [name])).toBe(null);
    expect(await address("inside.test", 80, ["inside.test", "10.0.0.7"])).toBe("10.0.0.7");
    expect(await address("10.0.0.7", 80, ["10.0.0.7"])).toBe("10.0.0.7");
    expect(await address("localhost", 80, ["localhost"])).toBe("127.0.0.1");
    expect(await address("both.test", 80, ["both.test"])).toBe("93.184.215.16");
    // Other ways to write an address are the same address.
    for (const written of ["127.1", "0x7f.1", "2130706433", "[::1]", "[::ffff:7f00:1]"])
      expect(await address(written, 80, [written])).toBe(
        normalHost(written) === "127.0.0.1" || written.startsWith("[") ? normalHost(written) : null,
      );
    expect(await address("2130706433", 80, ["good.test"])).toBe(null);
  });
});

describe("an address", () => {
  it("counts as public only where it belongs to the internet", () => {
    for (const inside of [
      "0.0.0.0",
      "10.1.2.3",
      "100.100.100.200",
      "127.0.0.1",
      "127.8.8.8",
      "169.254.169.254",
      "172.31.0.1",
      "192.168.1.1",
      "224.0.0.1",
      "255.255.255.255",
      "::",
      "::1",
      "::ffff:8.8.8.8",
      "fe80::1",
      "fd00:ec2::254",
      "64:ff9b::a00:1",
      "2002:7f00:1::",
      "ff02::1",
      "localhost",
      "",
      "8.8.8",
    ]) {
      expect([inside, isPublicAddress(inside)]).toEqual([inside, false]);
    }
    for (const outside of ["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111"])
      expect([outside, isPublicAddress(outside)]).toEqual([outside, true]);
  });
});

describe("mounts", () => {
  const hide = (to: string, isFolder = true) => ({ type: "hide", to, isFolder, blank: "/blank" }) as const;
  const bind = (from: string, to: string, writable = true) => ({ type: "bind", from, to, writable }) as const;

  it("go from the outside in, so that the deeper one wins, and of equal ones the last", () => {
    expect(
      mountArguments([bind("/home/u/p/.git/hooks", "/home/u/p/.git/hooks", false), bind("/home/u/p", "/home/u/p"), hide("/home/u")]),
    ).toEqual([
      ...["--tmpfs", "/home/u", "--bind", "/home/u/p", "/home/u/p", "--ro-bind", "/home/u/p/.git/hooks", "/home/u/p/.git/hooks"],
      ...["--remount-ro", "/home/u"],
    ]);
    expect(mountArguments([bind("/a", "/a", false), bind("/a", "/a", true)])).toEqual(["--bind", "/a", "/a"]);
  });

  it("hide nothing twice: not below what is hidden, nor below a folder that shows other content", () => {
    const mounts = [
      { type: "fresh", to: "/tmp", size: 4096 } as const,
      hide("/tmp/home/.ssh"),
      hide("/home/u/.holdfast"),
      hide("/home/u/.holdfast/x.sock", false),
    ];
    expect(mountArguments(mounts)).toEqual([
      ...["--perms", "1777", "--size", "4096", "--tmpfs", "/tmp"],
      "--tmpfs",
      "/home/u/.holdfast",
      "--remount-ro",
      "/home/u/.holdfast",
    ]);
    expect(mountArguments([...mounts, bind("/tmp/home", "/tmp/home", false)])).toContain("/tmp/home/.ssh");
    expect(mountArguments([hide("/home/u/.netrc", false)])).toEqual(["--ro-bind", "/blank", "/home/u/.netrc"]);
  });
});
