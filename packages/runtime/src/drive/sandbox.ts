import type { SessionEvent } from "@holdfast/protocol";
import { HoldfastError, isHoldfastError } from "@holdfast/protocol/error";
import type { SandboxNeed } from "../kernel/sandbox.ts";
import type { HeadSandbox } from "../kernel/state.ts";
import type { Sandbox, SandboxLife } from "../ports/index.ts";
import type { Driver } from "./driver.ts";

/** One that ends again while it is being made is made once more, so often. */
const mostTries = 3;

/** Carries out what the sandbox needs. Its events are durable before anything happens in it. */
export async function tendSandbox(driver: Driver, need: SandboxNeed): Promise<SessionEvent[]> {
  const { sandbox: port } = driver.ports;
  const known = driver.head.sandbox;
  if (port === undefined) return [];
  if (known === undefined) return [{ type: "sandbox.opened", payload: lifeOf(await makeAnew(port, driver.session, null)) }];
  switch (need) {
    case "ready":
      return ready(driver, port, known);
    case "prolong":
      return orLost(known, () => prolong(port, known));
    case "save":
      return orLost(known, async () => [await save(port, known)]);
  }
}

async function ready(driver: Driver, port: Sandbox, known: HeadSandbox): Promise<SessionEvent[]> {
  const why = await faultOf(port, known);
  if (typeof why !== "string") return why;
  for (let left = mostTries; ; left -= 1) {
    const life = await makeAnew(port, driver.session, known.snapshot);
    try {
      const health = await port.check(life.id);
      if (health.problems.length > 0) {
        throw new HoldfastError(
          "sandbox_unavailable",
          `The sandbox was made again, and work can't go on in it: ${health.problems.join("; ")}.`,
        );
      }
      const isSame = known.subject === null || health.subject === known.subject;
      const changed = changesOf(port, known, why, isSame, health.renewed);
      return [
        { type: "sandbox.lost", payload: { sandboxId: known.id, why } },
        { type: "sandbox.reconstituted", payload: { ...lifeOf(life), snapshot: known.snapshot, isSame, changed } },
      ];
    } catch (error) {
      if (!isHoldfastError(error, "sandbox_lost") || left <= 1) throw error;
    }
  }
}

/** Why it has to be made again; or that it is well. */
async function faultOf(port: Sandbox, known: HeadSandbox): Promise<string | SessionEvent[]> {
  const life = await port.find(known.id);
  if (life === null) return "it has ended";
  try {
    const { problems, subject } = await port.check(known.id);
    if (problems.length > 0) return problems.join("; ");
    // Nothing of ours happened since it was saved, and yet its files are others.
    if (!known.isDirty && known.subject !== null && subject !== known.subject) return "its files are not those that were saved";
    return [{ type: "sandbox.checked", payload: lifeOf(life) }];
  } catch (error) {
    if (isHoldfastError(error, "sandbox_lost")) return "it has ended";
    throw error;
  }
}

function changesOf({ keepsFiles }: Sandbox, known: HeadSandbox, why: string, isSame: boolean, renewed: readonly string[]): string[] {
  const files = (): string => {
    if (keepsFiles === true) return "- The workspace is as it was.";
    if (known.snapshot === null)
      return "- Nothing was saved of it: the workspace is as it was at the start of the session. Look before you go on.";
    if (known.isDirty) return "- The workspace is as it was saved last: what was done since is gone. Look before you go on.";
    return isSame ? "- The workspace is as it was." : "- The workspace was restored, and is not quite as it was: look before you go on.";
  };
  return [
    `- Why: ${why}.`,
    files(),
    "- Commands that were running have ended; /tmp is empty; what was installed outside the workspace is there only if the session's recipe installs it.",
    ...(renewed.length === 0 ? [] : [`- Credentials were renewed: ${renewed.join(", ")}.`]),
  ];
}

async function prolong(port: Sandbox, known: HeadSandbox): Promise<SessionEvent[]> {
  const life = await port.prolong(known.id);
  if (life !== null) return [{ type: "sandbox.checked", payload: lifeOf(life) }];
  const saved = await save(port, known);
  return [{ type: "sandbox.expiring", payload: { sandboxId: known.id, expiresAt: known.expiresAt ?? 0 } }, saved];
}

async function save(port: Sandbox, { id }: HeadSandbox): Promise<SessionEvent> {
  const { snapshot, subject } = await port.save(id);
  return { type: "sandbox.saved", payload: { sandboxId: id, snapshot, subject } };
}

/** It may end while it is tended: then the next effect finds it made again. */
async function orLost(known: HeadSandbox, work: () => Promise<SessionEvent[]>): Promise<SessionEvent[]> {
  try {
    return await work();
  } catch (error) {
    if (!isHoldfastError(error, "sandbox_lost")) throw error;
    return [{ type: "sandbox.lost", payload: { sandboxId: known.id, why: "it has ended" } }];
  }
}

async function makeAnew(port: Sandbox, session: string, snapshot: string | null): Promise<SandboxLife> {
  for (let left = mostTries; ; left -= 1) {
    try {
      return await port.open(session, snapshot);
    } catch (error) {
      if (!isHoldfastError(error, "sandbox_lost") || left <= 1) throw error;
    }
  }
}

/** Looks at it after a call that ended without an answer: the next effect must not meet what is gone. */
export async function lostUnder(driver: Driver, events: readonly SessionEvent[]): Promise<SessionEvent[]> {
  const { sandbox: port } = driver.ports;
  const known = driver.head.sandbox;
  const isUnsure = events.some((event) => event.type === "call.settled" && event.payload.outcome.status === "in_doubt");
  if (port === undefined || known === undefined || !isUnsure || (await port.find(known.id)) !== null) return [];
  return [{ type: "sandbox.lost", payload: { sandboxId: known.id, why: "it ended while a call ran in it" } }];
}

function lifeOf({ id, expiresAt }: SandboxLife): { sandboxId: string; expiresAt: number | null } {
  return { sandboxId: id, expiresAt };
}
