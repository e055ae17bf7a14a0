import { expect, test } from "vitest";
import { decide } from "./world.ts";

const names = ["PATH", "LD_PRELOAD", "BASH_ENV", "GIT_SSH_COMMAND"];

/** Ways in which bash gives a variable a value without an assignment's form. */
const ways = (name: string): readonly string[] => [
  `read ${name} < x; npm test`,
  `read -r -p hm -t 5 ${name} <<< ./x; npm test`,
  `while read -r a ${name}; do npm test; done < x`,
  `read -ra ${name} < x; npm test`,
  `printf -v ${name} %s ./x; npm test`,
  `mapfile -t ${name} < x; npm test`,
  `readarray -n 1 ${name} < x; npm test`,
  `getopts ab ${name}; npm test`,
  `wait -p ${name}; npm test`,
  `let ${name}=1; npm test`,
  `declare -n v=${name}; v=./x; npm test`,
  `for ${name} in ./x; do npm test; done`,
  `: \${${name}:=./x}; npm test`,
  `export ${name}=./x; npm test`,
];

test("a variable that decides what runs is asked about, however it gets its value", async () => {
  for (const name of names)
    for (const command of ways(name)) expect([command, (await decide(command)).decision]).toEqual([command, "review"]);
});

test("a variable of the line's own isn't", async () => {
  for (const command of [
    "read -r line < a.txt; echo $line",
    "while IFS=, read -r a b; do echo $b; done < data.csv",
    "printf -v out '%05d' 7; echo $out",
    "mapfile -t files < list.txt; echo ${#files[@]}",
    "let n=1+2; echo $n",
    "declare -a list=(a b); echo ${list[1]}",
  ])
    expect([command, (await decide(command)).decision]).toEqual([command, "allow"]);
});
