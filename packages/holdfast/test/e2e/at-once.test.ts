import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tmpdir } from "node:os";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { changeHome } from "../../src/config/change.ts";
import { createPlace } from "./run.ts";

test("of commands that change the same file at once none is lost, and each name is added once: servers, trust, what is accepted, secrets", async () => {
  const place = await createPlace(() => ({ text: "ok" }));
  const own = join(place.home, ".holdfast");
  const names = ["a", "b", "c", "d"];
  const folders = names.map((name) => join(place.home, "projects", name));
  for (const folder of folders) {
    mkdirSync(join(folder, ".holdfast"), { recursive: true });
    writeFileSync(join(folder, ".holdfast/config.toml"), '[mcp.own]\ncommand = "x"\n');
  }
  const all = async (ofEach: (name: string, at: number) => string[], stdin = "") =>
    Promise.all(names.map((name, at) => place.start(ofEach(name, at), { stdin }).finished));

  for (const { code } of await all((name) => ["mcp", "add", name, "--", "x"])) expect(code).toBe(0);
  for (const { code } of await all((name) => ["secrets", "set", `KEY_${name}`, "--file"], "value-of-eight")) expect(code).toBe(0);
  for (const { code } of await all((_, at) => ["trust", folders[at] ?? ""])) expect(code).toBe(0);
  for (const { code } of await all((_, at) => ["trust", "--all", folders[at] ?? ""])) expect(code).toBe(0);
  const config = readFileSync(join(own, "config.toml"), "utf8");
  for (const name of names) expect(config).toContain(`[mcp.${name}]`);
  const keysOf = (file: string, field: string): string[] =>
    Object.keys((JSON.parse(readFileSync(join(own, file), "utf8")) as Record<string, object>)[field] ?? {}).toSorted();
  expect(keysOf("secrets.json", "secrets")).toEqual(names.map((name) => `KEY_${name}`));
  expect(keysOf("trust.json", "trusted")).toEqual(folders);
  expect(keysOf("accepted.json", "accepted")).toEqual(folders);

  const same = await all(() => ["mcp", "add", "same", "--", "x"]);
  expect(same.map(({ code }) => code).toSorted()).toEqual([0, 2, 2, 2]);
  expect(readFileSync(join(own, "config.toml"), "utf8").match(/\[mcp\.same\]/g)).toHaveLength(1);
  expect(readdirSync(own).filter((name) => name.startsWith("."))).toEqual([]);
});

test("a change waits for the one before it, also where that one fails, and one on a full disk is told as store_full", async () => {
  const home = mkdtempSync(join(tmpdir(), "holdfast-change-"));
  try {
    const order: string[] = [];
    const one = async (name: string) => {
      order.push(`${name} begins`);
      await new Promise((resolve) => setTimeout(resolve, 20));
      order.push(`${name} ends`);
      // A device that takes no bytes, as a full disk.
      if (name === "full") await writeFile("/dev/full", "x");
    };
    const [full, next] = await Promise.allSettled([changeHome(home, () => one("full")), changeHome(home, () => one("next"))]);
    expect(full).toMatchObject({ status: "rejected", reason: { code: "store_full" } });
    expect(next?.status).toBe("fulfilled");
    for (const at of [0, 2]) expect(order[at + 1]).toBe(order[at]?.replace("begins", "ends"));
    // It is the operating system's lock on an empty file: another holder is waited for, and nothing is left to be cleared.
    const held = new DatabaseSync(join(home, "locks/home.sqlite"));
    held.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    const waiting = changeHome(home, () => Promise.resolve(order.push("after the holder")));
    await new Promise((resolve) => setTimeout(resolve, 60));
    order.push("the holder ends");
    held.close();
    await waiting;
    expect(order.slice(-2)).toEqual(["the holder ends", "after the holder"]);
    expect(readFileSync(join(home, "locks/home.sqlite"))).toHaveLength(0);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
