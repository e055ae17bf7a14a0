import { expect, test } from "vitest";
import { decide } from "./world.ts";

test("a file is emptied by whatever puts nothing there, and that is asked about as > is", async () => {
  for (const command of [
    "cp -f /dev/null src/a.ts",
    "install -m 644 /dev/null src/a.ts",
    "ln -sf /dev/null src/a.ts",
    "ln -sfn /dev/null src/a.ts",
    "ln -sfn x notes.txt",
    "mv /dev/null src/a.ts",
    "dd if=/dev/null of=src/a.ts",
    "rsync /dev/null src/a.ts",
    "uniq /dev/null src/a.ts",
    "sort -o src/a.ts /dev/null",
    "cmake -E copy /dev/null src/a.ts",
    "find src -name a.ts -exec cp /dev/null {} \\;",
    "xargs cp /dev/null < list",
    "sed -i d src/a.ts",
    "tee src/a.ts < /dev/null",
    "sponge src/a.ts < /dev/null",
    ": | tee src/a.ts",
    "cat /dev/null | tee src/a.ts > /dev/null",
    "printf '' | cat > src/a.ts",
    "printf %s '' > src/a.ts",
    "echo -n > src/a.ts",
    "cat < /dev/null >| src/a.ts",
    "cat <<E > src/a.ts\nE",
    "head -c0 src/b.ts > src/a.ts",
    "command : > src/a.ts",
    "{ :; } > src/a.ts",
    "&> src/a.ts",
    "exec >src/a.ts",
    "exec {fd}>src/a.ts",
    "exec 3> src/a.ts; echo done",
    "echo done 3> src/a.ts",
    'awk \'BEGIN{printf "" > "src/a.ts"}\'',
    "perl -i -ne '' src/a.ts",
    "ruby -i -n -e '' src/a.ts",
    "fallocate -p -l 100 src/a.ts",
    "fallocate --collapse-range -o 0 -l 4096 src/a.ts",
  ])
    expect([command, (await decide(command)).rule?.id]).toEqual([command, "builtin:loses-work"]);
});

test("what is written anew, made, or made again by every build isn't emptied", async () => {
  for (const command of [
    "for i in 1 2; do echo $i; done > src/a.ts",
    "{ echo a; cat src/b.ts; } > src/a.ts",
    "(cat src/b.ts) > src/a.ts",
    "echo a | tee src/a.ts",
    "echo -n a > src/a.ts",
    "tee -a src/a.ts < /dev/null",
    "cat <<E > src/a.ts\nhi\nE",
    "cp /dev/null new.txt",
    "cp -n /dev/null src/a.ts",
    "ln -s /dev/null new.txt",
    "cat /dev/null > dist/main.js",
    "gcc -x c -fsyntax-only /dev/null",
    "exec > src/a.ts 2>&1; echo a",
    "exec 3> src/a.ts; echo a >&3",
    'awk \'BEGIN{printf "" > "src/a.ts"; print 1 > "src/a.ts"}\'',
    "perl -i -ne 'print if /a/' src/a.ts",
    "perl -i.bak -ne '' src/a.ts",
    "perl -pi -e 's/a/b/' src/a.ts",
    "fallocate -l 100 new.bin",
  ])
    expect([command, (await decide(command)).decision]).toEqual([command, "allow"]);
});
