import { join } from "node:path";

/** Where things lie in the store's folder: `salt`, `ab/ab12…` (content by id), `drafts/` and `doomed/`. */
export interface BlobPlaces {
  readonly folder: string;
  /** Half-written files. */
  readonly drafts: string;
  /** Files that collection is about to delete. */
  readonly doomed: string;
  isId(text: string): boolean;
  of(id: string): string;
  ofDoomed(id: string): string;
}

export function blobPlaces(folder: string): BlobPlaces {
  const doomed = join(folder, "doomed");
  return {
    folder,
    drafts: join(folder, "drafts"),
    doomed,
    isId: (text) => /^[0-9a-f]{64}$/.test(text),
    of: (id) => join(folder, id.slice(0, 2), id),
    ofDoomed: (id) => join(doomed, id),
  };
}
