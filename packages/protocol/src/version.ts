/** The current version of each event type's payload. Older ones are upcast on read. */
export const eventVersion = 1;
