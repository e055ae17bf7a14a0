#!/bin/sh
# Brings a fresh clone to where `holdfast` and the tests run: the locked packages, the system's own programs, a build.
# Run again it only compares files (well under a second) and changes nothing.
#
#   sh scripts/setup.sh              what running Holdfast needs
#   sh scripts/setup.sh --for test   and what its tests need (a browser, a program's SDK)
set -u

purpose=run
case "$*" in
  '') ;;
  '--for test') purpose=test ;;
  '--for run') ;;
  *)
    echo "usage: sh scripts/setup.sh [--for run|test]" >&2
    exit 2
    ;;
esac

case $0 in */*) cd "${0%/*}/.." || exit 1 ;; *) cd .. || exit 1 ;; esac
root=$PWD
state=$root/.setup
log=$state/setup.log
# The lock file as it was when node_modules was made from it, a copy for each platform that shares this folder.
stamp=node_modules/.holdfast-lock-$(uname -s)-$(uname -m)
built=packages/holdfast/dist/.built
# Codex's SDK, for the test that programs written on it run here. In a folder of its own: without optional packages, as
# Codex itself is one of them and has hundreds of megabytes.
sdk=packages/holdfast/test/codex-sdk

say() { printf 'setup: %s\n' "$*" >&2; }

has() { command -v "$1" >/dev/null 2>&1; }

# Runs a command with its output in the log; shows the whole log where it fails.
logged() {
  if ! "$@" >"$log" 2>&1 </dev/null; then
    say "this failed: $*"
    cat "$log" >&2
    return 1
  fi
}

# --- what is out of date ----------------------------------------------------------------------------------------------

packages_are_current() { cmp -s package-lock.json "$stamp"; }

sdk_is_current() { [ $purpose = run ] || cmp -s "$sdk/package-lock.json" "$sdk/node_modules/.holdfast-lock"; }

build_is_current() {
  [ -f "$built" ] && [ -z "$(find packages/*/src packages/*/sh packages/*/package.json scripts/build.ts package-lock.json \
    -newer "$built" -print 2>/dev/null | head -n 1)" ]
}

# Programs by the name of their Debian package: what isn't there, separated by spaces.
missing_programs() {
  missing=
  has git || missing="$missing git"
  if [ "$(uname -s)" = Linux ]; then
    has bwrap || missing="$missing bubblewrap"
    has socat || missing="$missing socat"
  fi
  if [ $purpose = test ] && ! has jq; then missing="$missing jq"; fi
  if [ $purpose = test ] && ! has chromium && [ -z "${HOLDFAST_TEST_CHROMIUM:-}" ]; then missing="$missing chromium"; fi
  missing=${missing# }
}

# --- bringing it up to date -------------------------------------------------------------------------------------------

# npm_ci FOLDER [FLAG…]. Under `npm run` the PATH begins with node_modules/.bin, which npm ci is about to replace; npm gets
# the system's node.
npm_ci() {
  if ! has npm; then
    say "npm is needed: install Node 20 or later with npm (Debian: apt-get install nodejs npm)"
    return 1
  fi
  (
    cd "$1" || exit 1
    shift
    PATH=$(printf '%s' "$PATH" | tr ':' '\n' | grep -v '/node_modules/\.bin$' | grep -v '/node-gyp-bin$' | paste -s -d ':' -)
    logged npm ci --no-audit --no-fund "$@"
  )
}

install_packages() {
  say "installing the locked packages (npm ci)"
  npm_ci . && cp package-lock.json "$stamp"
}

install_sdk() {
  say "installing Codex's SDK for its test (npm ci)"
  npm_ci $sdk --omit=optional --ignore-scripts && cp $sdk/package-lock.json $sdk/node_modules/.holdfast-lock
}

apt_install() {
  # shellcheck disable=SC2086 # a list of names
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=300 $missing
}

install_programs() {
  if has apt-get && [ "$(id -u)" = 0 ]; then
    say "installing with apt: $missing"
    # The package lists may be absent or too old; they are fetched only where the first try shows that.
    apt_install >"$log" 2>&1 </dev/null && return 0
    if logged apt-get update -q -o DPkg::Lock::Timeout=300 && logged apt_install; then return 0; fi
    say "going on without: $missing"
    return 0
  fi
  say "missing: $missing"
  if has apt-get; then
    say "  get it with: sudo apt-get install -y $missing"
  elif has dnf; then
    say "  get it with: sudo dnf install -y $missing"
  elif has pacman; then
    say "  get it with: sudo pacman -S --needed $missing"
  elif [ "$(uname -s)" = Darwin ]; then
    say "  get it with Homebrew: git by 'brew install git', a browser for the tests by 'brew install --cask chromium'"
  else
    say "  get it from your system's package manager"
  fi
  case " $missing " in *' bubblewrap '*) say "  without bubblewrap commands can't be confined: they need --sandbox off" ;; esac
  case " $missing " in *' chromium '*) say "  or name a Chromium you have: HOLDFAST_TEST_CHROMIUM=/path/to/chromium" ;; esac
}

build() {
  # Stamped with the time before the build, so that what is edited meanwhile counts as newer.
  : >"$state/built" && logged node_modules/.bin/node scripts/build.ts && touch -r "$state/built" "$built"
}

# --- one at a time ----------------------------------------------------------------------------------------------------

# flock's lock ends with the last process that holds it, npm and apt included. Where there is none (macOS), a folder made by
# one alone is the lock, and the pid in it tells whether its maker still lives.
lock() {
  if has flock; then
    exec 9>"$state/lock"
    flock -n 9 || { say "another set-up is running; waiting for it" && flock 9; }
    return
  fi
  until mkdir "$state/lock.d" 2>/dev/null; do
    sleep 1
    holder=$(cat "$state/lock.d/pid" 2>/dev/null) && ! kill -0 "$holder" 2>/dev/null && rm -rf "$state/lock.d"
  done
  echo $$ >"$state/lock.d/pid"
  trap 'rm -rf "$state/lock.d"' EXIT
  trap 'exit 130' HUP INT TERM
}

missing_programs
if [ -z "$missing" ] && packages_are_current && sdk_is_current && build_is_current; then exit 0; fi

mkdir -p "$state" || exit 1
lock
missing_programs
[ -z "$missing" ] || install_programs
packages_are_current || install_packages || exit 1
sdk_is_current || install_sdk || exit 1
build_is_current || build || exit 1
