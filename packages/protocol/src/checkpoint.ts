import { z } from "zod";

/**
 * Where content is kept: in one blob from `offset` on, in several whose bytes follow each other, as a whole blob, or as an
 * object of the repository that lies in this folder (absolute).
 */
export const contentPlace = z.union([
  z.object({ blob: z.string(), offset: z.number().int().nonnegative() }),
  z.object({ blobs: z.array(z.string()) }),
  z.object({ whole: z.string() }),
  z.object({ oid: z.string(), folder: z.string() }),
]);
export type ContentPlace = z.infer<typeof contentPlace>;

/**
 * What stands at a path. `digest` is hex SHA-256 of a file's content or of a link's target; null for what has none. `mode`:
 * permission bits, null where they are not known. `content`: null where it was not kept.
 */
export const treeNode = z.object({
  kind: z.enum(["file", "link", "folder", "pipe", "other"]),
  mode: z.number().int().nullable(),
  digest: z.string().nullable(),
  size: z.number().int().nonnegative(),
  content: contentPlace.nullable(),
});
export type TreeNode = z.infer<typeof treeNode>;

/**
 * How one path changed; null where there was nothing, or is nothing. The path is absolute; bytes of a name that are no UTF-8
 * stand as lone surrogates U+DC80…U+DCFF. `outside`: something other than the session's calls did it.
 */
export const treeChange = z.object({
  path: z.string(),
  by: z.enum(["session", "outside"]),
  before: treeNode.nullable(),
  after: treeNode.nullable(),
});
export type TreeChange = z.infer<typeof treeChange>;

/** A ref of a repository, or its HEAD, that a command moved; null where there was none, or is none. */
export const refChange = z.object({ ref: z.string(), before: z.string().nullable(), after: z.string().nullable() });
export type RefChange = z.infer<typeof refChange>;

/** The workspace before an effect that may change it, as what changed since the checkpoint before. */
export const checkpoint = z.object({
  /** Blob that lists the whole tree: of the first that a process takes, from which it goes on. */
  base: z.string().optional(),
  changes: z.array(treeChange),
  /** Blob that lists the changes, where they are many. */
  list: z.string().optional(),
  refs: z.array(refChange).optional(),
  /** Paths whose content could not be kept, and why: what becomes of them can't be undone. So many at most; `more` counts the rest. */
  unkept: z.array(z.object({ path: z.string(), why: z.enum(["too_large", "unreadable", "no_room"]) })).optional(),
  more: z.number().int().nonnegative().optional(),
  /** Set where no checkpoint could be taken, and why. */
  failed: z.string().optional(),
  /** What the store must keep for it. */
  blobs: z.array(z.string()),
});
export type Checkpoint = z.infer<typeof checkpoint>;
