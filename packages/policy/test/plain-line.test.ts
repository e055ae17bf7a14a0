import { expect, it } from "vitest";
import { plainLine } from "../src/shell/plain-line.ts";

it.each([
  [["cat a", "cat a # 1", "cat   a   # 2\n", "# first look\ncat a", "cat a;"], "cat a"],
  [["cat a; ls|wc", "cat a ;  ls | wc # again", "cat a\nls |\n wc"], "cat a\nls | wc"],
  [["if true;then ls;fi", "if true # so\nthen\n  ls\nfi"], "if true; then\n  ls\nfi"],
])("one line in several writings: %j", (lines, plain) => {
  expect(lines.map(plainLine)).toEqual(lines.map(() => plain));
});

it.each(["echo '# 1'", 'echo "a # 1"', "echo a#1", "echo ${a#1}", "cat << E\n# 1\nE", "echo \\# 1", "echo $(ls # 1\n)"])(
  "what only looks like a comment stays: %j",
  (line) => {
    expect(plainLine(line)).toBe(line);
    expect(plainLine(line.replace("1", "2"))).not.toBe(plainLine(line));
  },
);

it("a line that can't be read is none", () => {
  for (const line of ["echo 'open", "if true", `echo ${"x".repeat(70_000)}`]) expect(plainLine(line)).toBeNull();
});
