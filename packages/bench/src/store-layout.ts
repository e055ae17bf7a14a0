/**
 * Where sessions should live: one SQLite file for all, or an index and a file each. Run it with Node 22.19 or later:
 * `node packages/bench/src/store-layout.ts [FOLDER ON THE DISK TO MEASURE]`. Prints Markdown; takes about a minute.
 */
import { execFile } from "node:child_process";
import { closeSync, cpSync, fdatasyncSync, mkdtempSync, openSync, readdirSync, rmSync, statSync, writeSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { bytesIn, layoutNames, openLayout, usualCommit } from "./store-layout/layouts.ts";
import type { Layout, LayoutName } from "./store-layout/layouts.ts";

const root = mkdtempSync(join(process.argv[2] ?? tmpdir(), "store-layout-"));
const run = promisify(execFile);
let folders = 0;
const newFolder = () => join(root, String(++folders));

async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function quantile(times: readonly number[], q: number): number {
  return [...times].sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * q))] ?? 0;
}

const ms = (time: number) => time.toFixed(time < 10 ? 3 : 1);
const spread = (times: readonly number[]) => `${ms(quantile(times, 0.5))} / ${ms(quantile(times, 0.99))}`;
const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);

async function withLayout<T>(name: LayoutName, folder: string, work: (layout: Layout) => Promise<T>): Promise<T> {
  const layout = openLayout(name, folder);
  try {
    return await work(layout);
  } finally {
    await layout.close();
  }
}

const sessionName = (index: number) => `session-${String(index).padStart(4, "0")}`;

/** Steps `from` to `to` of each session in turn; the time of each commit. */
async function drive(layout: Layout, sessions: readonly string[], from: number, to: number): Promise<number[]> {
  const times: number[] = [];
  for (let step = from; step < to; step++) {
    for (const session of sessions) times.push(await timed(() => layout.commit(usualCommit(session, step))));
  }
  return times;
}

/** The floor under every durable commit on this disk: one append of as many bytes as a commit carries, and a flush. */
function flushFloor(): number[] {
  const file = openSync(join(root, "floor"), "w");
  const bytes = Buffer.alloc(8192, 1);
  const times: number[] = [];
  for (let index = 0; index < 1000; index++) {
    const start = performance.now();
    writeSync(file, bytes);
    fdatasyncSync(file);
    times.push(performance.now() - start);
  }
  closeSync(file);
  return times;
}

async function commitCost(name: LayoutName): Promise<string> {
  const sessions = Array.from({ length: 8 }, (_, index) => sessionName(index));
  return withLayout(name, newFolder(), async (layout) => {
    await drive(layout, sessions, 0, 20);
    return spread(await drive(layout, sessions, 20, 270));
  });
}

/** `count` processes at once, each on a session of its own: commits a second of all, and the slowest 1 % of one. */
async function contention(name: LayoutName, count: number): Promise<string> {
  const folder = newFolder();
  await withLayout(name, folder, async (layout) => {
    await drive(
      layout,
      Array.from({ length: count }, (_, index) => sessionName(index)),
      0,
      1,
    );
  });
  const start = String(Date.now() + 500 + 150 * count);
  const self = fileURLToPath(import.meta.url);
  const outputs = await Promise.all(
    Array.from({ length: count }, (_, index) => run(process.execPath, [self, root, "drive", name, folder, sessionName(index), start])),
  );
  const results = outputs.map(({ stdout }) => JSON.parse(stdout) as { readonly times: number[]; readonly took: number });
  const took = Math.max(...results.map((result) => result.took));
  const times = results.flatMap((result) => result.times);
  return `${Math.round((times.length / took) * 1000)}/s, ${ms(quantile(times, 0.99))}`;
}

const contendingSteps = 400;

async function driveAlone(name: LayoutName, folder: string, session: string, startAt: number): Promise<void> {
  await withLayout(name, folder, async (layout) => {
    layout.open(session);
    await new Promise((resolve) => setTimeout(resolve, startAt - Date.now()));
    const times: number[] = [];
    const took = await timed(async () => times.push(...(await drive(layout, [session], 1, 1 + contendingSteps))));
    process.stdout.write(JSON.stringify({ times, took }));
  });
}

interface Home {
  readonly folder: string;
  readonly sessions: readonly string[];
}

/** 200 sessions of 30 steps, and one of 2,000. */
async function fillHome(name: LayoutName): Promise<Home> {
  const folder = newFolder();
  const sessions = Array.from({ length: 200 }, (_, index) => sessionName(index));
  await withLayout(name, folder, async (layout) => {
    await drive(layout, sessions, 0, 30);
    await drive(layout, ["large"], 0, 2000);
  });
  return { folder, sessions };
}

async function openCost(name: LayoutName, home: Home): Promise<{ readonly open: string; readonly create: string; readonly list: string }> {
  const [open, create, list]: [number[], number[], number[]] = [[], [], []];
  for (const session of home.sessions.slice(0, 60)) {
    const layout = await new Promise<Layout>((resolve) => {
      const start = performance.now();
      const opened = openLayout(name, home.folder);
      void opened
        .open(session)
        .load(session)
        .then(() => {
          open.push(performance.now() - start);
          resolve(opened);
        });
    });
    list.push(await timed(() => layout.list()));
    create.push(await timed(() => layout.commit(usualCommit(`new-${session}`, 0))));
    await layout.close();
  }
  return { open: spread(open), create: spread(create), list: spread(list) };
}

/** Reading the newest 50 events of a session of 60 events and of one of 4,000. */
async function windowCost(name: LayoutName, home: Home): Promise<string> {
  return withLayout(name, home.folder, async (layout) => {
    const read = async (session: string, last: number) => {
      const log = layout.open(session);
      const times: number[] = [];
      for (let index = 0; index < 200; index++) times.push(await timed(() => log.read(session, last - 49, last)));
      return ms(quantile(times, 0.5));
    };
    return `${await read(sessionName(5), 60)} → ${await read("large", 4000)}`;
  });
}

/** How many of the sessions can't be read whole after so many pages, spread over all files, were overwritten. */
async function damage(name: LayoutName, home: Home, pages: number): Promise<string> {
  const folder = newFolder();
  cpSync(home.folder, folder, { recursive: true });
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".db"))
    .map((entry) => join(entry.parentPath, entry.name));
  const all = files.flatMap((path) => Array.from({ length: statSync(path).size / 4096 }, (_, page) => ({ path, page })));
  for (let index = 0; index < pages; index++) {
    const at = all[Math.floor(((index + 0.5) / pages) * all.length)];
    if (at === undefined) continue;
    const file = openSync(at.path, "r+");
    writeSync(file, Buffer.alloc(4096, 0xff), 0, 4096, at.page * 4096);
    closeSync(file);
  }
  const lost = new Set<string>();
  for (const session of [...home.sessions, "large"]) {
    try {
      await withLayout(name, folder, async (layout) => {
        const log = layout.open(session);
        if ((await log.load(session)) === null) lost.add(session);
        await log.read(session, 1);
      });
    } catch {
      lost.add(session);
    }
  }
  rmSync(folder, { recursive: true });
  return `${lost.size} of ${home.sessions.length + 1}`;
}

async function deletion(name: LayoutName, home: Home): Promise<{ readonly small: string; readonly large: string; readonly freed: string }> {
  return withLayout(name, home.folder, async (layout) => {
    const small: number[] = [];
    for (const session of home.sessions.slice(100, 140)) small.push(await timed(() => layout.remove(session)));
    const before = bytesIn(home.folder);
    const large = await timed(() => layout.remove("large"));
    return { small: spread(small), large: ms(large), freed: `${megabytes(before - bytesIn(home.folder))} MB` };
  });
}

async function measure(name: LayoutName): Promise<Record<string, string>> {
  const rows: Record<string, string> = { "commit, one process, ms (median / 99 %)": await commitCost(name) };
  for (const count of [1, 2, 4]) {
    rows[`${count} process${count === 1 ? "" : "es"}, a session each: commits of all, 99 % in ms`] = await contention(name, count);
  }
  const home = await fillHome(name);
  rows["size of 200 sessions of 30 steps and one of 2,000, MB"] = megabytes(bytesIn(home.folder));
  for (const pages of [1, 10])
    rows[`sessions not whole after ${pages} overwritten page${pages === 1 ? "" : "s"}`] = await damage(name, home, pages);
  const { open, create, list } = await openCost(name, home);
  rows["opening the store and loading a session, ms"] = open;
  rows["first commit of a new session, ms"] = create;
  rows["listing 201 sessions, ms"] = list;
  rows["last 50 events of 60 → of 4,000, ms"] = await windowCost(name, home);
  const { small, large, freed } = await deletion(name, home);
  rows["deleting a session of 30 steps, ms"] = small;
  rows["deleting a session of 2,000 steps, ms"] = large;
  rows["given back to the disk by that"] = freed;
  return rows;
}

async function main(): Promise<void> {
  const floor = flushFloor();
  const results: Record<string, string>[] = [];
  for (const name of layoutNames) results.push(await measure(name));
  const lines = [
    `Node ${process.version}, SQLite ${process.versions["sqlite"]}, ${cpus().length} cores; an append of 8 kB and a flush: ${spread(floor)} ms`,
    "",
    `| | ${layoutNames.join(" | ")} |`,
    `|---|${layoutNames.map(() => "---|").join("")}`,
    ...Object.keys(results[0] ?? {}).map((label) => `| ${label} | ${results.map((rows) => rows[label]).join(" | ")} |`),
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
}

const [, , , mode, name, folder, session, start] = process.argv;
try {
  const layout = layoutNames.find((known) => known === name);
  if (mode === "drive" && layout !== undefined) await driveAlone(layout, folder ?? "", session ?? "", Number(start));
  else await main();
} finally {
  rmSync(root, { recursive: true, force: true });
}
