import type { EventType } from "@holdfast/protocol";
import { eventPayloads } from "@holdfast/protocol/event";
import { type Boundary, claimTypes, effectTypes } from "./stop.ts";

const eventTypes = Object.keys(eventPayloads) as EventType[];

/** All places where a driver can come to an end. */
export const boundaries: readonly Boundary[] = [
  ...eventTypes.map((type): Boundary => `commit ${type}`),
  ...effectTypes.map((type): Boundary => `effect ${type}`),
  ...claimTypes.map((type): Boundary => `claim ${type}`),
];
