import { adding, count, duration, either, key, list, money, named, oneOf, owned, price, rows, secret, table } from "./kinds.ts";
import { text, textLike, toggle, toolPattern, url } from "./kinds.ts";
import type { TopValue } from "./value-types.ts";

/** How hard a model thinks: the levels that `--effort` and `effort` take. */
export const efforts = ["none", "minimal", "low", "medium", "high", "xhigh"] as const;

const name = { pattern: "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$", wanted: "letters, digits, - and _, at most 64" };
const variable = textLike("the name of an environment variable", "^[A-Za-z_][A-Za-z0-9_]*$");
/** A name such as `registry.npmjs.org`, `*.npmjs.org`, `localhost:3000`, `[::1]:80`. */
export const host = textLike(
  "a host such as registry.npmjs.org, without https://",
  "^(?:(?:\\*\\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::\\d{1,5})?|\\[[0-9A-Fa-f:]+\\](?::\\d{1,5})?)$",
);
const packageName = textLike("the name of a package, such as @acme/skills", "^(?:@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*$");
const instructionFile = textLike(
  "the path of a file below a folder, such as AGENTS.md or .github/copilot-instructions.md",
  "^(?!/)(?!(?:.*/)?\\.{1,2}(?:/|$))[^\\0\\n\\r\\\\]{1,200}$",
);
const headers = named(secret(text), { pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$", wanted: "the name of an HTTP header" });
const variables = named(secret(textLike("a string", "^[^\\0]*$")), {
  pattern: "^[A-Za-z_][A-Za-z0-9_]*$",
  wanted: "the name of an environment variable",
});

/** A scripted or replayed model would let a repository's file speak as the model. */
function scripted(value: unknown): string | null {
  return /^(?:script|replay):/.test(String(value)) ? "its own file would speak as the model" : null;
}

/** `${NAME}` is filled in from the user's environment, where secrets are. */
function filledIn(value: unknown): string | null {
  return /\$\{/.test(JSON.stringify(value)) ? "${…} would be filled in from your environment, where secrets are" : null;
}

/** A project names what it holds. */
function leadsOut(value: unknown): string | null {
  const paths = Array.isArray(value) ? value.map(String) : [];
  return paths.some((path) => /^[~/\\]|^[A-Za-z]:|(?:^|[/\\])\.\.(?:[/\\]|$)/.test(path))
    ? "a project's documents lie in the project"
    : null;
}

const role = (help: string) => key(text, help, { project: "may", refused: scripted });

const hook = rows(
  table({
    command: key(text, "the command line; it gets the event as JSON on standard input", { required: true, refused: filledIn }),
    matcher: key(toolPattern, "only for tools whose whole name fits, such as run_command|edit_file"),
    timeout_ms: key(count, "ended after this time", { default: 60_000 }),
  }),
);

const check = table(
  {
    kind: key(oneOf(["command", "tests", "files", "diff", "http"]), "what it looks at; see checks.md", { default: "command" }),
    command: key(text, "command, tests: the command line, which must end with status 0"),
    when: key(list(text), "patterns: only where a changed path matches one"),
    required: key(toggle, "false: it is run and shown, and decides nothing", { default: true }),
    timeout_ms: key(count, "it fails when it takes longer", { default: 900_000 }),
    inputs: key(list(text), "command, tests: patterns of the files that decide its result; where nothing is said, the toolchain's tests"),
    outputs: key(list(text), "command, tests: patterns of what it may write"),
    needs: key(list(text), "command, tests: lines of commands that the session must have running; see checks.md"),
    report: key(text, "tests: the file that the run writes its report to; where nothing is said, its output is the report"),
    report_format: key(oneOf(["auto", "junit", "json", "tap"]), "tests: the report's form", { default: "auto" }),
    exists: key(list(text), "files: paths that must be there"),
    absent: key(list(text), "files: paths that must not be there"),
    unchanged: key(list(text), "files: paths that must be as they were before the session"),
    contains: key(named(text, { pattern: "^[^\\0]+$", wanted: "a path" }), "files: for a path, a text that must stand in it"),
    only: key(list(text), "diff: patterns of the only paths that may change"),
    never: key(list(text), "diff: patterns of paths that may not change"),
    max_files: key(count, "diff: no more files may change"),
    max_lines: key(count, "diff: no more lines may change"),
    keeps_tests: key(toggle, "diff: no test is removed, skipped, focused or weakened", { default: true }),
    adds_no_secrets: key(toggle, "diff: no secret of a known format is added", { default: true }),
    url: key(url, "http: what is asked", { refused: () => "what Holdfast itself asks over the network is yours to say" }),
    status: key(count, "http: the status it must answer with", { default: 200 }),
    json: key(
      named(text, { pattern: "^[^\\0]+$", wanted: "a path such as items.0.name" }),
      "http: for a path in the answer, its value as JSON",
    ),
    fresh_within_ms: key(count, "http: the answer may not be older"),
  },
  {
    lacks: (has) =>
      ["command", "url", "exists", "absent", "unchanged", "contains", "kind"].some((one) => has(one as "kind"))
        ? null
        : "it says nothing to check",
  },
);

const mcpServer = table(
  {
    command: key(text, "the program of a server that speaks over standard input and output", { refused: filledIn }),
    args: key(list(textLike("a string", "^[^\\0]*$")), "its arguments", { refused: filledIn }),
    env: key(variables, "environment variables for it, beside the usual ones", { refused: filledIn }),
    cwd: key(
      text,
      "the folder it runs in, seen from the project's; where nothing is said, the project's, and for one of yours in a project without trust an empty one",
      { refused: filledIn },
    ),
    url: key(url, "the address of a server that speaks over HTTP", { refused: filledIn }),
    headers: key(headers, "HTTP headers for it", { refused: () => "headers carry keys" }),
    enabled: key(toggle, "false: the server isn't used", { default: true }),
    startup_timeout_ms: key(count, "how long it may take to start", { default: 10_000 }),
    tool_timeout_ms: key(count, "how long a call may take", { default: 60_000 }),
    tools: key(list(text), "only these of its tools; * stands for any text"),
    disabled_tools: key(list(text), "all of its tools but these"),
    allow: key(list(text), "its tools that are called without asking", {
      default: [],
      refused: () => "what is called without asking is yours to say",
    }),
    safe: key(list(text), "its tools that only read: asked again where the answer was lost", {
      default: [],
      refused: () => "what may be done twice is yours to say",
    }),
    keyed: key(
      named(text, { pattern: "^[\\s\\S]{1,200}$", wanted: "the name of a tool" }),
      "its tools that take an idempotency key, and the argument for it",
      {
        refused: () => "what may be done twice is yours to say",
      },
    ),
  },
  {
    rivals: [["command", "url"]],
    lacks: (has) => (has("command") || has("url") ? null : "command (a program) or url (a server over HTTP)"),
  },
);

/**
 * Every key there is. Reading, errors, `config show`, the JSON Schema and docs/config.md come from this table: a new key
 * is one entry here. A project's file may set only what says so.
 */
export const keys = {
  model: key(
    either(
      text,
      ["models", "main"],
      named(
        table({
          context_window: key(count, "tokens that a request and its answer may have together"),
          max_output: key(count, "tokens that one answer may have"),
          price_input: key(price, "US dollars for a million tokens of input", { reason: "the limit of cost is reckoned with it" }),
          price_cached_input: key(price, "the same, where the provider had them cached", {
            reason: "the limit of cost is reckoned with it",
          }),
          price_output: key(price, "US dollars for a million tokens of output", { reason: "the limit of cost is reckoned with it" }),
        }),
        { pattern: "^[^/\\s]+/\\S+$", wanted: "PROVIDER/NAME in quotes" },
      ),
    ),
    "the model, the same as main in [models]; as a table: what Holdfast doesn't know of a model",
    { as: "modelFacts", env: "HOLDFAST_MODEL", project: "may", refused: scripted },
  ),
  effort: key(oneOf(efforts), "how hard the model thinks", { env: "HOLDFAST_EFFORT", project: "may" }),
  approvals: key(oneOf(["ask", "deny", "allow"]), "what happens to a call that needs a person; without it exec denies and line mode asks", {
    env: "HOLDFAST_APPROVALS",
    reason: "who is asked is yours to say",
  }),
  approval_deadline: key(duration, 'how long a call waits for a person, such as "2h"; seven days where nothing is said', {
    as: "approvalMs",
    reason: "how long you are waited for is yours to say",
  }),
  approval_default: key(oneOf(["deny", "allow"]), "what becomes of a call that nobody answered for in time", {
    as: "approvalAtDeadline",
    default: "deny",
    reason: "what nobody answered for is yours to decide",
  }),
  models: key(
    table({
      main: role("the model that does the work"),
      compact: role("the one that shortens long conversations"),
      review: role("the one that reviews changes"),
      judge: role("the one that judges what a program can't"),
      child: role("the one that subagents use"),
    }),
    "a model for each role, written PROVIDER/NAME; without its own a role has the main model",
    { project: "may" },
  ),
  providers: key(
    named(
      table(
        {
          base_url: key(url, "the API root, with /v1 where the server has one"),
          wire: key(oneOf(["responses", "chat", "messages", "gemini"]), "the protocol it speaks; chat where nothing is known"),
          api_key: key(secret(text), "the key itself; better is api_key_env"),
          api_key_env: key(variable, "the environment variable that holds the key"),
          headers: key(headers, "HTTP headers sent with each request"),
          context_window: key(count, "tokens of its models whose window isn't known otherwise"),
          store: key(toggle, "true: it may keep requests and answers, so that a step sends only what is new (wire responses)"),
          tool_search: key(
            toggle,
            "true: its models know tool_search, so that tools that are found become callable by name (wire responses)",
          ),
        },
        { rivals: [["api_key", "api_key_env"]] },
      ),
      name,
    ),
    "servers of models, beside those that are built in, or set up otherwise",
    { reason: "it says where your conversations and keys go" },
  ),
  instructions: key(
    table({
      files: key(
        list(instructionFile),
        "the project's instructions: of each folder from its top to yours, the first of these that is there",
        {
          default: ["AGENTS.override.md", "AGENTS.md", "CLAUDE.md"],
        },
      ),
      max_bytes: key(count, "what is read of them, all together; the nearest to your folder first", { default: 32_768 }),
    }),
    "which files of a trusted project direct the model",
    { project: "may" },
  ),
  compaction: key(
    table({
      trigger_tokens: key(count, "shorten the conversation when a request would have more tokens"),
      trigger_steps: key(count, "shorten it after so many answers of the model"),
      strategy: key(
        oneOf(["state", "fresh"]),
        "what it then begins with: all of the session's state, or only what must be there (goal, what binds, your words, answers, open work, notes)",
        { default: "state" },
      ),
      judgement: key(toggle, "whether a model ([models] compact) is asked for intent, reasons and the next step", { default: true }),
    }),
    "when a long conversation is shortened",
    { project: "may" },
  ),
  network: key(
    table({
      idle_timeout_ms: key(count, "a model's stream that is silent for so long is taken as lost", { default: 300_000 }),
      retry_for_s: key(
        count,
        "how long a failed request is tried again; where nothing is said 600, and while the provider limits the rate or is overloaded as long as the turn has time",
      ),
    }),
    "your line to the models",
    { reason: "it is about your machine's network" },
  ),
  limits: key(
    table({
      preset: key(oneOf(["default", "strict"]), "a set of limits; single ones below change it"),
      max_steps: key(count, "steps a turn"),
      max_tool_calls: key(count, "tool calls a turn"),
      max_tokens: key(count, "uncached input and output tokens a session"),
      max_cost: key(
        money,
        "US dollars a session (20). Where the price of the model is unknown, that is said; a limit that you set yourself then ends the turn",
      ),
      timeout: key(duration, "active time a turn, in seconds or as text; waiting for a person isn't counted", { as: "timeoutMs" }),
      command_timeout: key(duration, "the longest that a command may run", { as: "commandTimeoutMs" }),
      mutating_call_timeout: key(duration, "the longest that http_request waits for the answer to a request that changes something", {
        as: "mutatingCallTimeoutMs",
      }),
      max_depth: key(count, "how deep sessions may start sessions, and Holdfast Holdfast"),
    }),
    "hard limits: reaching one ends the turn as exhausted",
    { project: "tighter" },
  ),
  checks: key(
    table({
      commands: key(adding(text), "commands that must pass before the work counts as done; a project's are added to yours", {
        project: "may",
      }),
      named: key(owned(check, name), "checks by name, as [checks.named.NAME]; a project's are added to yours", { project: "may" }),
      constraints: key(adding(text), "what the work must not do, such as `no new dependencies`; a project's are added to yours", {
        project: "may",
      }),
      baseline: key(toggle, "run the checks before the first change, too", { default: true }),
      accept_changes: key(list(text), "patterns of check inputs that the session may change without making the evidence weak"),
    }),
    "checks of every new session",
    { reason: "it would make evidence count for more than it is" },
  ),
  sandbox: key(
    table({
      mode: key(oneOf(["read-only", "workspace-write", "off"]), "where commands may write", {
        default: "workspace-write",
        env: "HOLDFAST_SANDBOX",
      }),
      allow_net: key(
        list(host),
        'hosts that commands and web tools may reach; "all" for every public one: what lies inside (localhost, a neighbour) is named beside it',
        { default: [] },
      ),
      unix_sockets: key(toggle, "false: commands can't open Unix sockets at all; otherwise those that the machine listens on are hidden", {
        default: true,
      }),
      namespaces: key(toggle, "true: commands may make namespaces, for a browser's or a container's own sandbox", { default: false }),
      hide: key(list(text), "patterns of files in the workspace that commands don't see, such as .env or config/*.pem", { default: [] }),
      tmp_mb: key(count, "what a session's /tmp may hold, in millions of bytes of memory; 2000, or a quarter of the memory"),
      max_processes: key(count, "processes of a command at once; one that has more is ended", { default: 1000 }),
      max_memory_mb: key(count, "memory of a command with all it starts, in millions of bytes; three quarters of the machine's"),
      reconstitute: key(
        table({
          install: key(list(text), "commands that install what the work needs, in order"),
          tools: key(list(text), "programs that have to be there before work goes on"),
          credentials: key(list(text), "names of [secrets] that have to be valid before work goes on"),
        }),
        "what a session's sandbox needs at its start, and again where it is made anew: when a session is gone on with",
        { project: "may" },
      ),
      keep_free_mb: key(count, "a command that leaves less of its disk free, in millions of bytes, is ended", { default: 512 }),
    }),
    "how far commands reach",
    { reason: "how far its commands reach is yours to say" },
  ),
  mcp: key(owned(mcpServer, name), "MCP servers; a project's run in the sandbox, each after you accepted it with holdfast trust", {
    project: "may",
  }),
  hooks: key(
    table({
      session_start: key(hook, "when a session begins or is resumed"),
      session_end: key(hook, "when Holdfast lets go of a session"),
      prompt_submitted: key(hook, "before what you typed is taken in"),
      before_model: key(hook, "before a request to the model"),
      after_model: key(hook, "after its answer"),
      before_tool: key(hook, "before a tool call is decided"),
      after_tool: key(hook, "after a tool call"),
      approval_asked: key(hook, "when a call waits for a person"),
      before_compaction: key(hook, "before the conversation is shortened"),
      before_done: key(hook, "when the model says that it is done"),
      stop: key(hook, "when a turn has ended"),
    }),
    "commands at events, as [[hooks.EVENT]]; a project's run in the sandbox, each after you accepted it with holdfast trust",
    { project: "may" },
  ),
  web: key(
    table({
      search: key(
        table(
          {
            enabled: key(toggle, "false: there is no web_search, whatever else is said here"),
            provider: key(oneOf(["brave", "tavily", "exa", "searxng"]), "the kind of service"),
            model: key(
              text,
              "instead of a service: a model whose provider searches, such as openai/gpt-5-mini; its wire is responses, messages or gemini",
            ),
            base_url: key(url, "its address, where it is your own; searxng has no other"),
            api_key_env: key(variable, "the variable of its key: BRAVE_API_KEY, TAVILY_API_KEY or EXA_API_KEY where nothing is said"),
          },
          { lacks: (has) => (has("provider") || has("model") || has("enabled") ? null : "provider (a service) or model") },
        ),
        "who answers web_search; without it there is no such tool",
      ),
      keyed_hosts: key(list(host), "hosts whose APIs honour the header Idempotency-Key: a request whose answer was lost is sent again", {
        default: [],
      }),
    }),
    "what the web tools use",
    { reason: "it says where your searches and keys go" },
  ),
  secrets: key(
    named(
      table(
        {
          env: key(variable, "the environment variable that holds the value"),
          hosts: key(list(host), "the hosts it may be sent to, such as api.github.com"),
          as: key(variable, "the variable as which a command gets it that a rule gives it to; the same where nothing is said"),
          refresh: key(text, "a command line that puts out a new value: alone, or as JSON with value and expires_at"),
          lifetime: key(duration, "how long a refreshed value holds, where the command doesn't say", { as: "lifetimeMs" }),
        },
        { lacks: (has) => (has("env") ? (has("hosts") ? null : "hosts (where it may be sent)") : "env (the variable that holds it)") },
      ),
      name,
    ),
    "values that http_request may put into a header by name, and that a rule may give to a command; the model never sees them",
    { reason: "it says where your keys go" },
  ),
  documents: key(
    table({
      folders: key(list(text), "folders whose documents are searched beside the project's: seen from its root, absolute, or with ~/", {
        default: [],
        refused: leadsOut,
      }),
      pinned: key(list(text), "documents that stand before the model from the start and after each cut, 8 kB of them together", {
        default: [],
        refused: leadsOut,
      }),
      events: key(
        list(textLike("check_failed", "^check_failed$")),
        "when documents are searched by rule, with the words of what happened: check_failed",
        { default: [] },
      ),
    }),
    "documents that the model can search, and those that it is shown",
    { project: "may" },
  ),
  skills: key(
    table({
      packages: key(list(packageName), "packages in the project's node_modules whose skills may be used", { default: [] }),
      disabled: key(list(text), "names of skills that are not used", { default: [] }),
      budget_tokens: key(count, "tokens that the names and descriptions of all skills may have in a request", { default: 600 }),
    }),
    "skills, beside those in $HOLDFAST_HOME/skills, ~/.agents/skills and the project's .agents/skills",
    { reason: "whose instructions are used is yours to say" },
  ),
  sessions: key(
    table({
      keep_days: key(
        count,
        "sessions without a change for so long are removed: once a day after a turn of exec or at the end of line mode, or by holdfast sessions prune",
      ),
      max_size_mb: key(count, "the oldest are removed beyond this size of all, in millions of bytes"),
    }),
    "how long sessions are kept",
    { reason: "the sessions are yours" },
  ),
  checkpoints: key(
    table({
      max_size_mb: key(count, "millions of bytes that are kept of files for undo, over all sessions; beyond, the oldest is let go", {
        default: 1000,
      }),
    }),
    "what is kept so that commands can be taken back",
    { reason: "the disk is yours" },
  ),
};

/** The config with every layer applied. Tables and names are always there, a single value only where it is set. */
export type Config = TopValue<typeof keys> & {
  /** The main model: `model`, or `main` in `[models]`. */
  readonly model?: string;
};
export type ProviderConfig = Config["providers"][string];
export type McpServerConfig = Config["mcp"][string];
export type HookEvent = keyof Config["hooks"];
export type HookConfig = NonNullable<Config["hooks"][HookEvent]>[number];
