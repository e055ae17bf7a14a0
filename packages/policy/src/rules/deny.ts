import type { Rule } from "./rule.ts";

const builtin = { source: "builtin", authority: "builtin", decision: "deny" } as const;

/** What is never right, whatever is approved, and what this session can't do at all. */
export const denyRules: readonly Rule[] = [
  {
    ...builtin,
    id: "builtin:destroys-system",
    isFinal: true,
    facts: ["destroys_system"],
    person: "Deletes a whole system, home or the folders around the workspace: {what}.",
    model: "Refused for good: {what}. Name the single folders inside the workspace that should go.",
    examples: [
      "rm -rf /",
      "rm -rf ~",
      'rm -rf "$HOME"',
      "rm -r --no-preserve-root /*",
      "sudo rm -fr ~/",
      "cd / && rm -rf .",
      "find / -delete",
      "rm -rf ../*",
      "X=/; rm -rf $X",
    ],
    counterexamples: [
      "rm -rf dist",
      "rm -rf /tmp/x",
      "echo rm -rf /",
      "ls /",
      "rm -rf ./src",
      "rm ~/*.log",
      "find ~ -name '*.tmp' -delete",
    ],
  },
  {
    ...builtin,
    id: "builtin:device-write",
    isFinal: true,
    facts: ["device_write"],
    person: "Writes to a device or makes a file system: {what}.",
    model: "Refused for good: {what}. Work with files instead.",
    examples: ["mkfs.ext4 /dev/sda1", "dd if=image.iso of=/dev/sdb", "echo x > /dev/sda", "sudo wipefs -a /dev/nvme0n1"],
    counterexamples: ["dd if=/dev/zero of=/tmp/blob bs=1M count=1", "echo x > /dev/null", "cat file > /dev/stderr"],
  },
  {
    ...builtin,
    id: "builtin:fork-bomb",
    isFinal: true,
    facts: ["fork_bomb"],
    person: "Starts itself again and again until the machine stands still: {what}.",
    model: "Refused for good: {what}.",
    examples: [":(){ :|:& };:", "bomb() { bomb | bomb & }; bomb"],
    counterexamples: ["f() { echo hi; }; f", 'walk() { for d in */; do (cd "$d" && walk); done; }; walk'],
  },
  {
    ...builtin,
    id: "builtin:own-records",
    isFinal: true,
    facts: ["own_records"],
    person: "Changes Holdfast's own records, keys or settings: {what}.",
    model: "Refused for good: the runtime's own records can't be changed from inside a session.",
    examples: [
      "echo x > /home/ana/.holdfast/config.toml",
      "rm -rf ~/.holdfast/sessions",
      { tool: "write_file", path: "/home/ana/.holdfast/trust.json" },
    ],
    counterexamples: ["cat README.md", "echo holdfast"],
  },
  {
    ...builtin,
    id: "builtin:no-sandbox",
    facts: ["no_sandbox"],
    person: "Commands can't be confined on this machine, so none are run.",
    model:
      "Refused: commands can't be confined on this machine. The file tools still work; a person can start the session with --sandbox off.",
    examples: [],
    counterexamples: ["ls", "npm test"],
  },
  {
    ...builtin,
    id: "builtin:read-only-mode",
    facts: ["read_only_edit"],
    person: "The session is read-only; this would change {what}.",
    model: "Refused: this session may only read. Say what should be changed; a person can start one with --sandbox workspace-write.",
    examples: [],
    counterexamples: [
      { tool: "write_file", path: "/srv/app/src/a.ts" },
      { tool: "read_file", path: "/srv/app/src/a.ts" },
    ],
  },
  {
    ...builtin,
    id: "builtin:secret-folder",
    facts: ["secret_folder"],
    person: "Reads or changes credentials: {what}.",
    model: "Refused: {what} holds credentials, which no session may see. Ask the person for what you need to know.",
    examples: [
      { tool: "read_file", path: "/home/ana/.ssh/id_ed25519" },
      { tool: "read_file", path: "/etc/shadow" },
      { tool: "write_file", path: "/home/ana/.aws/credentials" },
    ],
    counterexamples: [
      { tool: "read_file", path: "/srv/app/src/ssh.ts" },
      { tool: "read_file", path: "/etc/os-release" },
      { tool: "read_file", path: "/srv/app/.env" },
    ],
  },
];
