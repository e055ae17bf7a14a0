import { z } from "zod";

/** One file of an edit as the intent keeps it. `before` and `after` are digests; the contents are blobs. */
export const storedEdit = z.object({
  path: z.string(),
  before: z.string().nullable(),
  beforeBlob: z.string().nullable(),
  beforeMode: z.number().nullable(),
  after: z.string().nullable(),
  afterBlob: z.string().nullable(),
  mode: z.number().nullable(),
  movedFrom: z.string().nullable(),
});
export type StoredEdit = z.infer<typeof storedEdit>;
