import { chmodSync, closeSync, mkdirSync, openSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { DocumentChunk, DocumentIndex, FoundChunk } from "@holdfast/runtime";

/** A part of the file's name: another format is another file, made anew from the documents. */
const format = 1;
const busyTimeoutMs = 10_000;
/** An index that nobody opened for so long goes. */
const unusedMs = 60 * 24 * 3600 * 1000;
/** What a word counts in the path, in the headings, and in the text. */
const weights = "1.5, 2.5, 1.0";

const schema = `
  CREATE TABLE IF NOT EXISTS documents (
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL, digest TEXT NOT NULL, is_whole INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS chunks (
    id INTEGER PRIMARY KEY, document INTEGER NOT NULL, line INTEGER NOT NULL, end_line INTEGER NOT NULL,
    heading TEXT NOT NULL, text TEXT NOT NULL, vector BLOB
  ) STRICT;
  CREATE INDEX IF NOT EXISTS chunks_document ON chunks (document);
  CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (
    path, heading, text, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
  );
`;

/**
 * Opens or makes the index `name` in a folder, private to its user. Several processes may use it at once. One that is damaged is
 * thrown away and made anew. Throws what SQLite throws where there is no place for it, or another process holds it for long.
 */
export function openDocumentIndex(folder: string, name: string): DocumentIndex {
  const path = join(folder, `${name}.v${format}.db`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  dropUnused(folder);
  try {
    return createIndex(openFile(path));
  } catch (error) {
    if (!isDamaged(error)) throw error;
    for (const file of [path, `${path}-wal`, `${path}-shm`]) rmSync(file, { force: true });
    return createIndex(openFile(path));
  }
}

/** Of folders that nobody searches any more. */
function dropUnused(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity);
    if (age > unusedMs) rmSync(path, { force: true });
  }
}

/** SQLITE_CORRUPT and SQLITE_NOTADB (sqlite.org/rescode.html). */
function isDamaged(error: unknown): boolean {
  const code = (error as { readonly errcode?: unknown }).errcode;
  return typeof code === "number" && [11, 26].includes(code & 0xff);
}

function openFile(path: string): DatabaseSync {
  closeSync(openSync(path, "a", 0o600));
  chmodSync(path, 0o600);
  const now = new Date();
  utimesSync(path, now, now);
  const db = new DatabaseSync(path, { timeout: busyTimeoutMs });
  try {
    // What is lost with the power is taken in again.
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF");
    db.exec(`BEGIN IMMEDIATE; ${schema} COMMIT`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function createIndex(db: DatabaseSync): DocumentIndex {
  const sql = {
    known: db.prepare("SELECT path, stamp, digest, is_whole FROM documents"),
    find: db.prepare("SELECT id FROM documents WHERE path = ?"),
    add: db.prepare("INSERT INTO documents (path, stamp, digest, is_whole) VALUES (?, ?, ?, ?)"),
    touch: db.prepare("UPDATE documents SET stamp = ? WHERE path = ?"),
    drop: db.prepare("DELETE FROM documents WHERE id = ?"),
    dropWords: db.prepare("DELETE FROM words WHERE rowid IN (SELECT id FROM chunks WHERE document = ?)"),
    dropChunks: db.prepare("DELETE FROM chunks WHERE document = ?"),
    addChunk: db.prepare("INSERT INTO chunks (document, line, end_line, heading, text) VALUES (?, ?, ?, ?, ?)"),
    addWords: db.prepare("INSERT INTO words (rowid, path, heading, text) VALUES (?, ?, ?, ?)"),
    search: db.prepare(`
      SELECT documents.path, is_whole, line, end_line, heading, chunks.text, -hits.score AS score
      FROM (SELECT rowid AS id, bm25(words, ${weights}) AS score FROM words WHERE words MATCH ? ORDER BY score, rowid LIMIT ?) AS hits
      JOIN chunks ON chunks.id = hits.id JOIN documents ON documents.id = chunks.document
      ORDER BY hits.score, hits.id`),
    unembedded: db.prepare("SELECT id, heading, text FROM chunks WHERE vector IS NULL ORDER BY id LIMIT ?"),
    embed: db.prepare("UPDATE chunks SET vector = ? WHERE id = ?"),
    vectors: db.prepare("SELECT id, vector FROM chunks WHERE vector IS NOT NULL"),
    chunk: db.prepare(`
      SELECT path, is_whole, line, end_line, heading, chunks.text FROM chunks JOIN documents ON documents.id = chunks.document
      WHERE chunks.id = ?`),
  };
  const atOnce = (work: () => void): void => {
    db.exec("BEGIN IMMEDIATE");
    try {
      work();
      db.exec("COMMIT");
    } catch (error) {
      db.exec("ROLLBACK");
      throw error;
    }
  };
  const removeOne = (path: string): void => {
    const found = sql.find.get(path) as { id: number } | undefined;
    if (found === undefined) return;
    sql.dropWords.run(found.id);
    sql.dropChunks.run(found.id);
    sql.drop.run(found.id);
  };
  const addOne = (document: number | bigint, path: string, { line, endLine, heading, text }: DocumentChunk): void => {
    const { lastInsertRowid } = sql.addChunk.run(document, line, endLine, heading, text);
    sql.addWords.run(lastInsertRowid, path, heading, text);
  };
  return {
    known: () =>
      sql.known.all().map((row) => ({
        path: row["path"] as string,
        stamp: row["stamp"] as string,
        digest: row["digest"] as string,
        isWhole: row["is_whole"] === 1,
      })),
    put(documents) {
      atOnce(() => {
        for (const { path, stamp, digest, isWhole, chunks } of documents) {
          removeOne(path);
          const { lastInsertRowid } = sql.add.run(path, stamp, digest, isWhole ? 1 : 0);
          for (const chunk of chunks) addOne(lastInsertRowid, path, chunk);
        }
      });
    },
    touch: (path, stamp) => void sql.touch.run(stamp, path),
    remove: (paths) => atOnce(() => paths.forEach(removeOne)),
    search(words, limit) {
      if (words.length === 0) return [];
      // In quotes nothing of it is FTS5's own syntax.
      const query = words.map((word) => `"${word.replaceAll("\0", " ").replaceAll('"', '""')}"`).join(" OR ");
      return sql.search.all(query, limit).map((row) => found(row, row["score"] as number));
    },
    unembedded: (limit) =>
      sql.unembedded.all(limit).map((row) => ({ id: row["id"] as number, text: `${row["heading"] as string}\n${row["text"] as string}` })),
    embed: (vectors) =>
      atOnce(() => {
        for (const { id, vector } of vectors) sql.embed.run(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength), id);
      }),
    nearest(vector, limit) {
      const best: { id: number; score: number }[] = [];
      for (const row of sql.vectors.iterate()) {
        const score = closeness(vector, row["vector"] as Uint8Array);
        if (best.length === limit && score <= best.at(-1)!.score) continue;
        const place = best.findIndex((one) => score > one.score);
        best.splice(place === -1 ? best.length : place, 0, { id: row["id"] as number, score });
        if (best.length > limit) best.pop();
      }
      return best.flatMap(({ id, score }) => {
        const row = sql.chunk.get(id);
        return row === undefined ? [] : [found(row, score)];
      });
    },
    close: () => db.close(),
  };
}

function found(row: Record<string, unknown>, score: number): FoundChunk {
  return {
    path: row["path"] as string,
    isWhole: row["is_whole"] === 1,
    line: row["line"] as number,
    endLine: row["end_line"] as number,
    heading: row["heading"] as string,
    text: row["text"] as string,
    score,
  };
}

/** Of vectors of length 1. One of another length is of another embedder: it is nowhere near. */
function closeness(vector: Float32Array, bytes: Uint8Array): number {
  if (bytes.byteLength !== vector.byteLength) return -1;
  const other = new Float32Array(bytes.slice().buffer);
  let sum = 0;
  for (let at = 0; at < vector.length; at += 1) sum += vector[at]! * other[at]!;
  return sum;
}
