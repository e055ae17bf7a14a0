import { describe, expect, test } from "vitest";
import { createPolicy } from "../src/index.ts";

const of = (line: string) => createPolicy({ home: "/h" }).executes(line, "/w");

describe("what a line executes", () => {
  test.each([
    ["./deploy.sh", "/w/deploy.sh"],
    ["./deploy\\.sh", "/w/deploy.sh"],
    ["'./my script.sh'", "/w/my script.sh"],
    ['./de"ploy".sh', "/w/deploy.sh"],
    ["~/w/deploy.sh", "/h/w/deploy.sh"],
    ["cd scripts; ./a.sh", "/w/scripts/a.sh"],
    ['sh -c "./deploy.sh"', "/w/deploy.sh"],
    [". ./deploy.sh", "/w/deploy.sh"],
    ["./{deploy,x}.sh", "/w/deploy.sh"],
    ["bash -x deploy.sh", "/w/deploy.sh"],
    ["node --test dist/cli.js x", "/w/dist/cli.js"],
    ["python3 -m tool.run --port 1", "/w/tool/run.py"],
    [`true ${Array.from({ length: 100 }, (_, n) => `a${n}`).join(" ")}; ./deploy.sh`, "/w/deploy.sh"],
  ])("%s", (line, path) => {
    expect(of(line)).toMatchObject({ programs: expect.arrayContaining([path]), isWhole: true });
  });

  test.each(["./dep*.sh", "./deploy.s[h]", "D=deploy; ./$D.sh", "PATH=./x:$PATH deploy.sh", 'bash "$SCRIPT"', 'cd "$D" && ./run'])(
    "isn't told by %s, which stands for the whole workspace",
    (line) => {
      expect(of(line).isWhole).toBe(false);
    },
  );

  test.each(["git push origin $BRANCH", 'git commit -m "$(cat note)"', "rm *.log", "FOO=$BAR npm test"])(
    "is known where only arguments are unknown: %s",
    (line) => {
      expect(of(line).isWhole).toBe(true);
    },
  );

  test("files that are only named are told apart from what runs", () => {
    expect(of("git add src/a.ts --pathspec-from-file=list")).toEqual({
      paths: ["/w/git", "/w/add", "/w/src/a.ts", "/w/--pathspec-from-file=list", "/w/list"],
      programs: [],
      isWhole: true,
    });
  });
});
