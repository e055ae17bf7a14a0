/** "HFst" in the file's header: tells a Holdfast store from any other SQLite file. */
export const applicationId = 0x48467374;

/**
 * The steps from an empty file to the current format; the format's number (`PRAGMA user_version`) is how many were made.
 * A step that has been released is never changed: a new format is a new step at the end.
 */
export const migrations: readonly string[] = [
  `
  -- Narrow on purpose: listing reads this table alone.
  CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL UNIQUE,
    workspace TEXT,
    title TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('idle', 'running', 'waiting')),
    wake_at REAL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    seq INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX sessions_wake ON sessions (wake_at) WHERE wake_at IS NOT NULL;

  CREATE TABLE heads (session INTEGER PRIMARY KEY, head TEXT NOT NULL) STRICT;

  -- No WITHOUT ROWID: its rows spill to a page of their own from 1 kB on, these from 4 kB.
  CREATE TABLE events (
    session INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    type TEXT NOT NULL,
    version INTEGER NOT NULL,
    at REAL NOT NULL,
    prev TEXT NOT NULL,
    digest TEXT NOT NULL,
    hash TEXT NOT NULL,
    salt TEXT,
    payload TEXT,
    PRIMARY KEY (session, seq)
  ) STRICT;

  CREATE TABLE registers (
    session INTEGER NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (session, kind, key)
  ) STRICT;

  -- body is NULL once the row was taken: the events hold it then. The message id stays, so a doubled one is still one.
  CREATE TABLE inbox (
    session INTEGER NOT NULL,
    number INTEGER NOT NULL,
    message_id TEXT NOT NULL,
    body TEXT,
    at REAL NOT NULL,
    PRIMARY KEY (session, number),
    UNIQUE (session, message_id)
  ) STRICT;
  CREATE INDEX inbox_waiting ON inbox (session, number) WHERE body IS NOT NULL;

  CREATE TABLE outbox (
    id INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    message_id TEXT NOT NULL,
    receiver TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (session, message_id)
  ) STRICT;

  CREATE TABLE claims (
    session INTEGER NOT NULL,
    call_id TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    taken_by TEXT NOT NULL,
    PRIMARY KEY (session, call_id, attempt)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE locks (
    name TEXT PRIMARY KEY,
    pid INTEGER NOT NULL,
    start_time TEXT NOT NULL,
    boot_id TEXT NOT NULL,
    label TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE blob_refs (
    session INTEGER NOT NULL,
    blob TEXT NOT NULL,
    PRIMARY KEY (session, blob)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- registers: a JSON array of [kind, key, value], where value is JSON text.
  CREATE TABLE snapshots (
    session INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    head TEXT NOT NULL,
    registers TEXT NOT NULL,
    PRIMARY KEY (session, seq)
  ) STRICT;
  `,
  `
  -- A fork shares the events of parent (the session that wrote event parent_seq) up to parent_seq.
  ALTER TABLE sessions ADD COLUMN parent INTEGER;
  ALTER TABLE sessions ADD COLUMN parent_seq INTEGER;
  -- Deleted, but a fork lives: nothing is left but what it shares.
  ALTER TABLE sessions ADD COLUMN is_deleted INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX sessions_parent ON sessions (parent) WHERE parent IS NOT NULL;
  CREATE INDEX sessions_running ON sessions (status) WHERE status = 'running';
  -- The last event of the commit that first referred to it; a fork takes over what is referred to before it begins.
  ALTER TABLE blob_refs ADD COLUMN seq INTEGER NOT NULL DEFAULT 0;
  `,
  `
  -- What shows that the owner lives to processes that can't see it by its number; NULL where nothing does.
  ALTER TABLE locks ADD COLUMN life TEXT;
  `,
];

/** Every table with a `session` column that holds rows of one session; deleting it empties them all. */
export const sessionTables = ["heads", "events", "registers", "inbox", "outbox", "claims", "blob_refs", "snapshots"] as const;
