import { execFileSync } from "node:child_process";

/** A program with a bug, its test, and a model that mends it: what there is to attest. */
export const files = {
  "add.sh": "echo $(( $1 - $2 ))\n",
  "test.sh": '[ "$(sh add.sh 2 3)" = 5 ] && echo "1..1" && echo "ok 1 - adds"\n',
};
export const fixes = (results: readonly string[]) =>
  results.length === 0
    ? { calls: [{ name: "edit_file", input: { path: "add.sh", edits: [{ old: "$1 - $2", new: "$1 + $2" }] } }] }
    : { text: "Fixed." };

export const git = (where: string, ...args: string[]): string =>
  execFileSync("git", ["-C", where, "-c", "user.name=t", "-c", "user.email=t@example.org", ...args], { encoding: "utf8" });

/** What an envelope holds. */
export const payloadOf = (envelope: string): string =>
  Buffer.from((JSON.parse(envelope) as { payload: string }).payload, "base64").toString();
