import { addFact, type Findings, type Judge, type JudgedCall } from "../facts/fact.ts";
import { hasExactly, hasOption, optionValues, roughOperands } from "../shell/options.ts";
import { hostOf, isLoopback, networkScope } from "./hosts.ts";

const readingSql =
  /^\s*(?:select|explain|show|describe|desc|with|values|table|pragma\s+\w+(?:\([^)]*\))?\s*;?\s*$|\.(?:tables|schema|indexes|databases|mode|headers|help|dump)|\\(?!!|i|o|copy|g|w|set)\w*\+?)\b/i;
const changingSql =
  /\b(?:insert|update|delete|drop|truncate|alter|create|grant|revoke|replace|merge|call|do|copy|vacuum|reindex|attach|load_extension|load|(?:writefile|edit|fts3_tokenizer|setval|nextval|set_config|lo_(?:import|export|unlink)|dblink\w*|pg_(?:terminate|cancel|reload|rotate|promote|switch|create|drop|advisory|logical|replication)\w*)\s*(?=\()|into\s+(?:out|dump)file)\b|\\!|\\copy|\.(?:shell|system|import|output|once|save|restore)/i;

/** True for text of which every statement only reads. */
export function onlyReads(sql: string): boolean {
  const bare = sql.replace(/'(?:[^']|'')*'/g, "''").replace(/"[^"]*"/g, '""');
  if (changingSql.test(bare)) return false;
  return bare.split(";").every((statement) => /^\s*$/.test(statement) || readingSql.test(statement));
}

/** The server that is meant; the empty list for a local socket, null where it can't be read. */
function serverOf(call: JudgedCall): string[] | null {
  const hosts = optionValues(call.args, ["-h", "--host", "-H"]);
  const urls = call.args.filter((word) => /^[a-z][a-z0-9+]*:\/\//.test(word.literal ?? ""));
  // A connection string in a variable names its host.
  if (roughOperands(call.args, ["-c", "-e", "-U", "-u", "-d", "-p", "-P"]).some((word) => word.literal === null && /\$/.test(word.text)))
    return null;
  if ([...hosts, ...urls].some((word) => word.literal === null)) return null;
  return [...hosts.map((word) => word.literal ?? "?"), ...urls.map((word) => hostOf(word.literal ?? "") ?? "?")].filter(
    (host) => !host.startsWith("/"),
  );
}

function reach(call: JudgedCall, findings: Findings): void {
  const hosts = serverOf(call);
  if (hosts === null || hosts.some((host) => !isLoopback(host))) addFact(findings, "network", call.text, networkScope(hosts));
}

const sqlClient: Judge = (call, findings) => {
  if (hasExactly(call.args, ["--version", "--help"]) || call.texts[0] === "-V") return;
  const texts = [...optionValues(call.args, ["-c", "--command", "-e", "--execute"])];
  const isEmbedded = call.program === "sqlite3" || call.program === "duckdb" || call.program === "sqlite";
  if (isEmbedded) texts.push(...roughOperands(call.args, ["-c", "-cmd", "-separator"]).slice(1));
  const list = call.texts.some((text) => text === "-l" || text === "--list");
  const read =
    texts.length > 0 && texts.every((word) => word.literal !== null && onlyReads(word.literal)) && !hasOption(call.args, "-f", "--file");
  const here = call.command.hereText;
  if (!(read || list || (texts.length === 0 && here !== null && onlyReads(here)))) addFact(findings, "database", call.text);
  if (!isEmbedded) reach(call, findings);
};

const dump: Judge = (call, findings) => reach(call, findings);
const change: Judge = (call, findings) => {
  if (hasExactly(call.args, ["--version", "--help"])) return;
  addFact(findings, "database", call.text);
  reach(call, findings);
};

const redisReads =
  /^(?:ping|get|mget|info|keys|scan|ttl|pttl|type|exists|strlen|llen|lrange|lindex|hget|hgetall|hkeys|hvals|hlen|hexists|smembers|scard|sismember|zrange|zcard|zscore|zrank|dbsize|time|memory|slowlog|xlen|xrange|xinfo|lastsave|echo|object|randomkey|getrange|bitcount)$/i;

const redis: Judge = (call, findings) => {
  const words = roughOperands(call.args, ["-h", "-p", "-a", "-n", "-u", "--user", "--pass"]);
  if (!redisReads.test(words[0]?.literal ?? (hasExactly(call.args, ["--version", "--help"]) ? "ping" : "?")))
    addFact(findings, "database", call.text);
  reach(call, findings);
};

const mongo: Judge = (call, findings) => {
  const code = optionValues(call.args, ["--eval"]);
  const reads =
    code.length > 0 &&
    code.every(
      (word) =>
        word.literal !== null &&
        /\b(?:find|findOne|count\w*|aggregate|stats|getIndexes|distinct|explain|listDatabases|getCollectionNames|version|hello|ping)\b|^show\b/.test(
          word.literal,
        ) &&
        !/\b(?:drop|delete|remove|update|insert|replace|create|rename|\$out|\$merge|eval|load)\w*/i.test(word.literal),
    );
  if (!reads && !hasExactly(call.args, ["--version", "--help"])) addFact(findings, "database", call.text);
  reach(call, findings);
};

/** Migration tools: their subcommands that only look are few. */
const migrations: Judge = (call, findings) => {
  const words = roughOperands(call.args, ["--schema", "-f", "--config", "-c", "-e", "--env"]).map((word) => word.literal ?? "?");
  const text = words.join(" ");
  const changes: Readonly<Record<string, RegExp>> = {
    prisma: /^(?:migrate (?:reset|deploy|dev|resolve)|db (?:push|execute|seed|pull))/,
    alembic: /^(?:upgrade|downgrade|stamp)/,
    knex: /^(?:migrate:(?:latest|up|down|rollback|unlock)|seed:run)/,
    sequelize: /^db:/,
    "sequelize-cli": /^db:/,
    typeorm: /^(?:migration:(?:run|revert)|schema:(?:sync|drop))/,
    "drizzle-kit": /^(?:push|migrate|drop|up)/,
    dbmate: /^(?:up|down|drop|create|migrate|rollback|load)/,
    flyway: /^(?!info|validate|help|version)/,
    liquibase: /^(?!status|validate|history|help|diff)/,
    goose: /\b(?:up|down|reset|redo)\b/,
    diesel: /^(?:migration (?:run|revert|redo)|database (?:reset|drop|setup))/,
    sqlx: /^(?:migrate (?:run|revert)|database (?:drop|reset|create))/,
    rake: /(?:^|\s)db:(?!version|migrate:status|abort)/,
    flask: /^db (?:upgrade|downgrade|migrate|init|stamp)/,
    mix: /^ecto\.(?:migrate|rollback|drop|create|reset|setup|load)/,
    migrate: /\b(?:up|down|drop|force|goto)\b/,
    atlas: /^(?:schema apply|migrate (?:apply|down|set))/,
    "sea-orm-cli": /^migrate/,
    refinery: /^migrate/,
    yoyo: /^(?:apply|rollback|reapply)/,
    "node-pg-migrate": /^(?:up|down|redo)/,
    "migrate-mongo": /^(?:up|down)/,
    kysely: /^(?:migrate|seed)/,
    "mikro-orm": /^(?:migration:(?:up|down|fresh)|schema:|seeder:)/,
    rails: /(?:^|\s)db:(?!version|migrate:status)|^(?:dbconsole|db)(?:\s|$)/,
  };
  if (changes[call.program]?.test(text) === true) addFact(findings, "database", call.text);
};

/** Frameworks whose own script carries the subcommands. */
const management: Judge = (call, findings) => {
  const at = call.texts.findIndex((text) => /(?:^|\/)(?:manage\.py|artisan|console)$/.test(text));
  if (
    at >= 0 &&
    /^(?:migrate(?!:status)|flush|createsuperuser|changepassword|sqlflush|loaddata|db:|doctrine:(?:migrations:migrate|database:drop|schema:))/.test(
      call.texts[at + 1] ?? "",
    )
  ) {
    addFact(findings, "database", call.text);
  }
};

function each(judge: Judge, names: string): (readonly [string, Judge])[] {
  return names.split(" ").map((name) => [name, judge] as const);
}

export const databaseJudges: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  ...each(sqlClient, "psql mysql mariadb sqlite3 sqlite duckdb clickhouse-client sqlcmd usql pgcli mycli cqlsh"),
  ...each(dump, "pg_dump pg_dumpall mysqldump mongodump pg_isready"),
  ...each(
    change,
    "createdb dropdb createuser dropuser pg_restore mysqladmin mongorestore mongoimport pg_ctl initdb vacuumdb reindexdb pgbench influx",
  ),
  ...each(redis, "redis-cli valkey-cli"),
  ...each(mongo, "mongosh mongo"),
  ...each(management, "python python3 php"),
  ...each(
    migrations,
    "flask mix migrate atlas sea-orm-cli refinery yoyo node-pg-migrate migrate-mongo kysely mikro-orm prisma alembic knex sequelize sequelize-cli typeorm drizzle-kit dbmate flyway liquibase goose diesel sqlx rake rails",
  ),
]);
