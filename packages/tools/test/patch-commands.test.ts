import { expect, test } from "vitest";
import { fromFolder, patchInCommand } from "../src/patch/in-command.ts";

const patch = `*** Begin Patch
*** Update File: a.txt
@@
-it's "old"
+costs 5$ \`now\`
*** End Patch`;
const simple = patch.replace(/it's "old"/, "old").replace(/costs.*/, "new");
const here = (text: string) => `<<'EOF'\n${text}\nEOF`;

test("a line that is one patch is recognised in every form that models give it", () => {
  const forms: readonly (readonly [string, string, string | null])[] = [
    [`apply_patch ${here(patch)}`, `${patch}\n`, null],
    [`apply_patch ${here(patch)}\n`, `${patch}\n`, null],
    [`apply_patch <<"END"\n${patch}\nEND`, `${patch}\n`, null],
    [`apply_patch <<EOF\n${simple}\nEOF`, `${simple}\n`, null],
    [`applypatch ${here(patch)}`, `${patch}\n`, null],
    [`cd src && apply_patch ${here(patch)}`, `${patch}\n`, "src"],
    [`cd 'my files' && apply_patch ${here(patch)}`, `${patch}\n`, "my files"],
    [`apply_patch "$(cat ${here(patch)}\n)"`, patch, null],
    [`apply_patch '${simple}'`, simple, null],
    [`apply_patch "${simple}"`, simple, null],
    [`apply_patch "${patch.replace(/["$`]/g, "\\$&")}"`, patch, null],
    [`bash -lc "apply_patch ${here(simple)}"`, `${simple}\n`, null],
    [`bash -lc 'cd src && apply_patch <<EOF\n${simple}\nEOF\n'`, `${simple}\n`, "src"],
    [`sh -c "apply_patch '${simple}'"`, simple, null],
    [`apply_patch <<< '${simple}'`, simple, null],
  ];
  for (const [line, expected, folder] of forms) expect(patchInCommand(line), line).toEqual({ patch: expected, folder });
});

test("a line that does more, or whose patch only a run can tell, stays a command", () => {
  for (const line of [
    "ls",
    "apply_patch < fix.patch",
    "apply_patch",
    "cat fix.patch | apply_patch",
    "grep apply_patch README.md",
    `echo apply_patch ${here(patch)}`,
    `apply_patch ${here(patch)}\nnpm test`,
    `npm test && apply_patch ${here(patch)}`,
    `cd src; apply_patch ${here(patch)}`,
    `cd $DIR && apply_patch ${here(patch)}`,
    `cd ~/x && apply_patch ${here(patch)}`,
    `cd - && apply_patch ${here(patch)}`,
    `apply_patch <<EOF\n${patch}\nEOF`,
    `apply_patch <<-'EOF'\n${patch}\nEOF`,
    `X=1 apply_patch ${here(patch)}`,
    `apply_patch <<'EOF' &\n${patch}\nEOF`,
    `apply_patch <<'EOF' > log\n${patch}\nEOF`,
    `apply_patch <<'EOF'\n${patch}`,
    `apply_patch "$PATCH"`,
    `apply_patch "$(cat fix.patch)"`,
    `! apply_patch ${here(patch)}`,
    `bash -lc "bash -c 'apply_patch x'"`,
    "apply_patch 'unclosed",
  ]) {
    expect(patchInCommand(line), line).toBeNull();
  }
});

test("paths start from the folder that the line goes to", () => {
  const text =
    "*** Begin Patch\n*** Update File: a.txt\n*** Move to: b.txt\n@@\n-*** Add File: x\n+y\n*** Add File: /abs\n+*** Add File: z\n*** End Patch";
  expect(fromFolder(text, "src")).toBe(
    "*** Begin Patch\n*** Update File: src/a.txt\n*** Move to: src/b.txt\n@@\n-*** Add File: x\n+y\n*** Add File: /abs\n+*** Add File: z\n*** End Patch",
  );
  expect(fromFolder(fromFolder(text, "b"), "/a/")).toContain("*** Update File: /a/b/a.txt\n");
  expect(fromFolder(text, null)).toBe(text);
});
