import { expect, test } from "vitest";
import { createPolicy } from "../src/index.ts";
import { machine } from "../src/examples/machine.ts";
import { rulesOf } from "./given-rules.ts";
import { decide, policy, request, type Setting } from "./world.ts";

const get = (host: string, setting: Setting = {}) => decide({ tool: "web_fetch", method: "GET", host }, setting);
const post = (host: string, setting: Setting = {}) => decide({ tool: "http_request", method: "POST", host }, setting);
const only = (...network: string[]): Setting => ({ network });

test("without a network every request is asked for, and exactly its host would be granted", async () => {
  expect(await get("example.com:443")).toMatchObject({
    decision: "review",
    rule: { id: "builtin:network" },
    scope: { network: ["example.com"] },
    provenRead: false,
  });
  expect((await get("example.com:8443")).scope).toEqual({ network: ["example.com:8443"] });
  expect((await get("2606:4700::1:8443")).scope).toEqual({ network: ["[2606:4700::1]:8443"] });
  expect(await post("example.com:443")).toMatchObject({
    decision: "review",
    rule: { id: "builtin:remote-change" },
    scope: { network: ["example.com"] },
  });
});

test("a host on the session's list is allowed, also what sends data to it; another is not", async () => {
  expect(await get("example.com:443", only("example.com"))).toMatchObject({ decision: "allow", rule: { id: "builtin:allowed-host" } });
  expect(await post("api.example.com:443", only("*.example.com"))).toMatchObject({ decision: "allow" });
  expect(await get("example.com:443", only("example.com:443"))).toMatchObject({ decision: "allow" });
  for (const network of [["example.com"], ["example.com:80", "*.example.com"]]) {
    expect(await get("evil-example.com:443", { network }), String(network)).toMatchObject({ decision: "review" });
  }
  expect(await get("example.com:8080", only("example.com:80"))).toMatchObject({ decision: "review" });
});

test("with an open network reading is allowed, sending data is asked for", async () => {
  expect(await get("example.com:443", { network: "all" })).toMatchObject({ decision: "allow" });
  expect(await post("example.com:443", { network: "all" })).toMatchObject({ decision: "review", rule: { id: "builtin:remote-change" } });
});

test("this machine and its network are asked for whatever the network is, unless they are named", async () => {
  for (const host of [
    "localhost:3000",
    "app.localhost:80",
    "127.0.0.1:8080",
    "10.1.2.3:80",
    "::1:80",
    "192.168.0.1:443",
    "::ffff:7f00:1:80",
    "fd00::1:80",
  ]) {
    for (const network of ["none", "all"] as const) {
      expect(await get(host, { network }), host).toMatchObject({ decision: "review", rule: { id: "builtin:inside-host" } });
    }
  }
  expect(await get("localhost:3000", only("localhost:3000"))).toMatchObject({ decision: "allow" });
  expect(await post("127.0.0.1:8080", only("127.0.0.1"))).toMatchObject({ decision: "allow" });
});

test("a cloud's metadata service is refused, unless it is named", async () => {
  for (const host of [
    "169.254.169.254:80",
    "::ffff:a9fe:a9fe:80",
    "100.100.100.200:80",
    "fd00:ec2::254:80",
    "metadata.google.internal:80",
    "64:ff9b::a9fe:a9fe:80",
  ]) {
    expect(await get(host, { network: "all" }), host).toMatchObject({ decision: "deny", rule: { id: "builtin:metadata-host" } });
  }
  expect(await get("169.254.169.254:80", only("169.254.169.254"))).toMatchObject({ decision: "allow" });
});

test("a request that may already have happened is asked for, also where its host is allowed", async () => {
  expect(await post("example.com:443", { network: ["example.com"], repeatsDoubt: true })).toMatchObject({
    decision: "review",
    rule: { id: "builtin:repeats-doubt" },
  });
});

test("a request that names no host is asked for; the configured search service is allowed", async () => {
  const base = request({ tool: "http_request", method: "GET", host: "example.com:443" }, { network: "all" });
  for (const reads of [[], ["host:example.com"], ["file:/etc/passwd"]]) {
    expect(await policy.decide({ ...base, plan: { ...base.plan, reads } })).toMatchObject({
      decision: "review",
      rule: { id: "builtin:unknown-tool" },
    });
  }
  expect(await decide({ tool: "web_search", method: "GET", host: "api.example.com:443" })).toMatchObject({ decision: "allow" });
});

test("a key that only the model vouches for is asked for, also where the host is allowed", async () => {
  const base = request({ tool: "http_request", method: "POST", host: "example.com:443" }, { network: ["example.com"] });
  expect(await policy.decide({ ...base, plan: { ...base.plan, isKeyClaimed: true } })).toMatchObject({
    decision: "review",
    rule: { id: "builtin:claimed-key" },
    scope: {},
  });
});

test("a command whose words name a cloud's metadata service is refused alike, in every written form, in every mode, unless it is named", async () => {
  for (const command of [
    "curl -s 'http://user@169.254.169.254:80/latest?a=b'",
    "curl http://169.254.43518/",
    "curl 025177524776",
    "curl http://0xa9.0xfe.0xa9.0xfe",
    "curl http://%31%36%39.254.169.254/",
    "curl http://169。254。169。254/",
    "curl -g http://[::ffff:169.254.169.254]/",
    "curl 'http://[0:0:0:0:0:ffff:a9fe:a9fe]/'",
    "curl 'http://[64:ff9b::a9fe:a9fe]/'",
    "curl 'http://[fd00:ec2::254]/latest'",
    "curl http://100.100.100.200/",
    "curl HTTP://Metadata.Google.Internal./",
    "H=169.254.169.254; curl http://$H/latest",
    "bash -c 'wget http://169.254.169.254'",
    "curl -x http://169.254.169.254 http://example.com",
    "curl --resolve example.com:80:169.254.169.254 http://example.com",
    "nc 169.254.169.254 80",
    "ssh -L 8080:169.254.169.254:80 host.example.com",
    "node -e 'fetch(\"http://169.254.169.254/\")'",
    "python3 - <<'X'\nimport urllib.request\nurllib.request.urlopen('http://0xA9FEA9FE/')\nX",
    "echo x > /dev/tcp/169.254.169.254/80",
  ]) {
    for (const setting of [{}, { network: "all" }, { mode: "off", network: "all" }] as const satisfies readonly Setting[])
      expect(await decide(command, setting), command).toMatchObject({ decision: "deny", rule: { id: "builtin:metadata-host" } });
  }
  expect(await decide("curl http://169.254.169.254/", only("169.254.169.254"))).toMatchObject({ decision: "allow" });
  for (const command of ["curl http://169.253.169.254/", "curl https://example.com/metadata", "curl -o metadata https://example.com"])
    expect(await decide(command, { network: "all" }), command).toMatchObject({ decision: "allow" });
});

test("where a rule lets a person decide on it, the note of risk tells of the credentials", async () => {
  const { risk } = await createPolicy({ ...machine, rules: rulesOf("user", { fact: "metadata_host", decision: "review" }) }).decide(
    request("curl http://169.254.169.254/latest"),
  );
  expect(risk).toMatchObject({ level: "high", reversible: "no" });
  expect(risk?.touches).toContain("the credentials of the machine: 169.254.169.254");
});
