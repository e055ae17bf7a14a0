import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Confinement } from "@holdfast/runtime/ports/processes";
import { hiddenText, sandboxConformance } from "../../runtime/test/sandbox-conformance.ts";
import { makePlace, processesAt, specFor } from "./processes-fixture.ts";

for (const purpose of ["session", "check"] as const) {
  sandboxConformance(`bubblewrap, around a ${purpose}'s command,`, async ({ environment, limits, tmpBytes }) => {
    // Not below /tmp, of which commands have their own.
    const { base, workspace, userHome, ...folders } = makePlace("/var/tmp");
    mkdirSync(join(userHome, ".ssh"));
    writeFileSync(join(userHome, ".ssh/id"), hiddenText);
    const names = new Map<string, readonly string[] | ((asked: number) => readonly string[])>();
    const asked = new Map<string, number>();
    const resolve = async (name: string): Promise<readonly string[]> => {
      const found = names.get(name);
      if (found === undefined) throw new Error(`no such name: ${name}`);
      const count = asked.get(name) ?? 0;
      asked.set(name, count + 1);
      return typeof found === "function" ? found(count) : found;
    };
    const place = { base, workspace, userHome, ...folders };
    const processes = processesAt(place, { environment: { ...environment, HOME: userHome }, limits, sandbox: { tmpBytes }, resolve });
    return {
      workspace,
      userHome,
      names,
      run: async (command: string, confinement: Partial<Confinement> = {}) => {
        const running = await processes.start(
          specFor(place, command, { confinement: { mode: "workspace-write", purpose, ...confinement }, timeoutMs: 60_000 }),
        );
        const { end, refused = [] } = await running.ended;
        const { bytes } = await processes.read(running.ref, 0, 1_000_000);
        return { end, refused, text: Buffer.from(bytes).toString("utf8") };
      },
      close: async () => {
        await processes.endSession("session", { forget: true });
        await processes.close();
        rmSync(base, { recursive: true, force: true });
      },
    };
  });
}
