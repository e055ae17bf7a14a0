import type { SessionEvent, Settings, WorldSection } from "@holdfast/protocol";
import type { Driver } from "./driver.ts";
import { newId } from "./driver.ts";

/** What other settings change of what the model was told, within a turn; empty where it is nothing. */
export function changedWorld(driver: Driver, settings: Settings): SessionEvent[] {
  const checks = driver.registers.entries("check").map(([, check]) => check);
  const sections = driver.ports.director
    .describe({ settings, checks })
    .filter((section) => driver.registers.get("worldNow", section.id)?.text !== section.text);
  return sections.length === 0 ? [] : [{ type: "world.observed", payload: { sections } }, worldNotice(driver, sections)];
}

export function worldNotice(driver: Driver, sections: readonly WorldSection[]): SessionEvent {
  const text = `The world has changed since you were told of it:\n${sections.map((section) => section.text).join("\n")}`;
  return { type: "notice.added", payload: { notice: { kind: "notice", id: newId(driver)("itm"), trust: "system", text } } };
}
