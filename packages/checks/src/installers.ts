/** A command that does nothing but install what a lock file names. */
export interface Installer {
  /** Names of the dependency folders that it may change. */
  readonly folders: readonly string[];
  /** Names of lock files, of which the nearest one upwards from the command's folder counts. */
  readonly locks: readonly string[];
  /** Requirement files given on the line, which are locks too. */
  readonly given: readonly string[];
  /** Globs of what steers or patches an install besides the lock file. */
  readonly steering: readonly string[];
  /** It removes the folder of this name beside the command's first, so that nothing earlier stays in it. */
  readonly removes: string | null;
}

/** No quotes, expansions, redirections or second command: what is not one plain line is no recorded install. */
export const plainLine = /^[\w@%+=:,./^~ -]+$/;
/** Flags that change neither where it is installed, nor from where, nor whether the lock file is kept. */
const harmlessFlags =
  /^(?:-[DEOPSsqv]|--(?:save(?:-dev|-exact|-optional|-prod)?|no-(?:audit|fund|progress)|(?:audit|fund)=false|silent|quiet|verbose|offline|prefer-offline|ignore-scripts|frozen-lockfile|immutable|locked|frozen|production|prod|dev|exact|legacy-peer-deps|include=dev))$/;
/** A package by its name in the registry, with a version. A file, a folder or a repository is none. */
const packageName = /^(?:@[\w.-]+\/)?\w[\w.-]*(?:@[\w.^~=-]+)?$/;
const archive = /\.(?:tgz|tar|tar\.gz|zip|whl)$/;

const node = {
  folders: ["node_modules", ".yarn"],
  steering: [
    "{.npmrc,.yarnrc,.yarnrc.yml,.pnpmfile.cjs,pnpm-workspace.yaml,bunfig.toml}",
    "**/patches/**",
    "**/.yarn/{releases,plugins,patches}/**",
  ],
};
const python = {
  folders: [".venv", "venv"],
  steering: ["{setup.py,setup.cfg,pyproject.toml,pip.conf,uv.toml,poetry.toml,sitecustomize.py}"],
};

interface Form {
  readonly command: RegExp;
  readonly takesNames: boolean;
  readonly installer: Omit<Installer, "given" | "removes">;
}

/** The first words of the installers' commands, and what the rest of the line may be. */
const forms: readonly Form[] = [
  { command: /^npm (?:ci|clean-install)$/, takesNames: false, installer: { ...node, locks: ["package-lock.json", "npm-shrinkwrap.json"] } },
  { command: /^npm (?:install|i|add)$/, takesNames: true, installer: { ...node, locks: ["package-lock.json", "npm-shrinkwrap.json"] } },
  { command: /^pnpm (?:install|i|add)$/, takesNames: true, installer: { ...node, locks: ["pnpm-lock.yaml"] } },
  { command: /^yarn(?: install)?$/, takesNames: false, installer: { ...node, locks: ["yarn.lock"] } },
  { command: /^yarn add$/, takesNames: true, installer: { ...node, locks: ["yarn.lock"] } },
  { command: /^bun (?:install|i|add)$/, takesNames: true, installer: { ...node, locks: ["bun.lock"] } },
  { command: /^uv sync$/, takesNames: false, installer: { ...python, locks: ["uv.lock"] } },
  { command: /^poetry (?:install|sync)$/, takesNames: false, installer: { ...python, locks: ["poetry.lock"] } },
  {
    command: /^bundle install$/,
    takesNames: false,
    installer: { folders: ["vendor", ".bundle"], locks: ["Gemfile.lock"], steering: ["{Gemfile,*.gemspec}"] },
  },
  {
    command: /^composer install$/,
    takesNames: false,
    installer: { folders: ["vendor"], locks: ["composer.lock"], steering: ["composer.json"] },
  },
  {
    command: /^go mod (?:download|vendor)$/,
    takesNames: false,
    installer: { folders: ["vendor"], locks: ["go.sum"], steering: ["go.work"] },
  },
  {
    command: /^cargo (?:fetch|vendor)$/,
    takesNames: false,
    installer: { folders: ["vendor"], locks: ["Cargo.lock"], steering: ["**/.cargo/{config,config.toml}"] },
  },
];
/** What any of them installs into. */
export const dependencyNames: ReadonlySet<string> = new Set(forms.flatMap(({ installer }) => installer.folders));
const pip = /^(?:(?:\S*\/)?pip[\d.]*|(?:\S*\/)?python[\d.]* -m pip) install$/;

/** Null for everything but one simple command of a toolchain's installer. */
export function installerOf(command: string): Installer | null {
  const line = command.trim();
  if (!plainLine.test(line)) return null;
  const words = line.split(/ +/);
  for (let count = Math.min(words.length, 4); count > 0; count -= 1) {
    const [head, rest] = [words.slice(0, count).join(" "), words.slice(count)];
    if (pip.test(head)) return pipInstaller(rest);
    const form = forms.find((one) => one.command.test(head));
    if (form === undefined) continue;
    const isPlain = rest.every((word) => harmlessFlags.test(word) || (form.takesNames && packageName.test(word) && !archive.test(word)));
    return isPlain ? { ...form.installer, given: [], removes: /^npm (?:ci|clean-install)$/.test(head) ? "node_modules" : null } : null;
  }
  return null;
}

/** `pip install -r FILE`, with nothing else that it could install. */
function pipInstaller(rest: readonly string[]): Installer | null {
  const given: string[] = [];
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at] ?? "";
    if (word === "-r" || word === "--requirement") given.push(rest[(at += 1)] ?? "");
    else if (!harmlessFlags.test(word)) return null;
  }
  return given.length === 0 || given.includes("") ? null : { ...python, locks: [], given, removes: null };
}
