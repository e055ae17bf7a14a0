import { expect, test } from "vitest";
import { decide } from "./world.ts";

/** Programs that ask and change by one name: what only asks, and its neighbour that doesn't. */
const pairs: readonly (readonly [asks: readonly string[], changes: readonly string[]])[] = [
  [
    ["sysctl -n hw.ncpu", "sysctl -a", "sysctl vm.swappiness"],
    ["sysctl -w vm.swappiness=1", "sysctl vm.swappiness=1", "sysctl -p", "sysctl --system"],
  ],
  [
    ["mount", "mount -l", "mount | column -t"],
    ["mount -a", "mount /dev/sdb /mnt", "mount -l /dev/sdb /mnt", "mount -o remount,rw /"],
  ],
  [
    ["swapon --show", "swapon -s"],
    ["swapon /swap", "swapon -a"],
  ],
  [
    ["route -n", "route"],
    ["route add default gw 10.0.0.1", "route -n del default"],
  ],
  [
    ["arp -a", "arp -n"],
    ["arp -d 10.0.0.1", "arp -s 10.0.0.1 aa:bb:cc:dd:ee:ff"],
  ],
  [["service --status-all"], ["service nginx restart", "service --full-restart nginx"]],
  [["defaults read com.apple.dock"], ["defaults write com.apple.dock x 1", "defaults delete com.apple.dock"]],
  [["git worktree prune -n"], ["git worktree prune", "git worktree remove ../x"]],
  [["git branch -d merged"], ["git branch -D feat/x", "git branch -d -f feat/x", "git branch -df feat/x"]],
  [
    ["cargo new demo", "cargo init --lib /tmp/demo"],
    ["cargo add serde", "cargo install ripgrep"],
  ],
  [["npm init -y"], ["npm init vite", "npm init -y playwright"]],
  [
    ["pnpm store path", "npm cache verify", "yarn cache dir"],
    ["pnpm store add x", "npm cache add x"],
  ],
  [
    ["mkdocs build", "hexo generate", "docusaurus build"],
    ["mkdocs gh-deploy", "hexo deploy", "docusaurus deploy", "mike deploy --push 1"],
  ],
  [
    ["curl http://[::1]:80/a", "curl 127.1:80", "curl -s localhost:80"],
    ["curl http://[2001:db8::1]/", "curl http://[::1].evil.example/", "curl 128.1"],
  ],
  [["hyperfine 'npm test' 'npm run lint'"], ["hyperfine 'git push'", "hyperfine -p 'rm -rf src' ls"]],
];

test("what only asks needs no question, what changes something beside it does", async () => {
  for (const [asks, changes] of pairs) {
    for (const command of asks) expect([command, (await decide(command)).decision]).toEqual([command, "allow"]);
    for (const command of changes) expect([command, (await decide(command)).decision]).toEqual([command, "review"]);
  }
});

test("tools that put something where others get it are asked about, whatever else they can do", async () => {
  for (const command of [
    "cosign sign x",
    "crane push a b",
    "skopeo copy docker://a docker://b",
    "oras push x",
    "ko publish .",
    "ghp-import -p site",
    "huggingface-cli upload x .",
  ])
    expect([command, (await decide(command)).decision]).toEqual([command, "review"]);
});

test("what is judged by its name alone is told as that, and no more is claimed of it", async () => {
  for (const command of ["bash setup.sh", "./deploy.sh", "npm run deploy", "make release", "obscure publish"]) {
    const { decision, rule, reason, risk } = await decide(command);
    expect([decision, rule.id], command).toEqual(["review", "builtin:remote-change"]);
    expect(reason, command).toContain("What it does isn't known before it runs; its name says that it may be this: Sends data out");
    expect(risk?.reversible, command).toBe("unknown");
  }
  const known = await decide("git push");
  expect(known.reason).not.toContain("its name says");
  expect(known.risk?.reversible).toBe("no");
});

test("of files that version control has, no note says that they exist nowhere else, or can't be had again", async () => {
  const tracked = await decide("rm -rf src");
  expect([tracked.decision, tracked.rule.id]).toEqual(["review", "builtin:loses-work"]);
  expect(tracked.risk).toMatchObject({ reversible: "unknown", touches: ["what isn't committed: /srv/app/src"] });
  const other = await decide("rm notes.txt");
  expect(other.risk).toMatchObject({ reversible: "no", touches: ["work that exists nowhere else: /srv/app/notes.txt"] });
  expect((await decide("rm -rf src notes.txt")).risk?.reversible).toBe("no");
  const blind = await decide("rm -rf src", { isTracked: () => Promise.reject(new Error("no git")) });
  expect(blind.risk?.reversible).toBe("no");
});
