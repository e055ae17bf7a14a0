# The same where there is no /proc (macOS). There is no sandbox either, and what leaves the command's process group
# can't be found: `marked` finds nothing.

birth() {
  started=$(LC_ALL=C ps -o lstart= -p "$self" | tr -s ' ' '_')
  boot=$(sysctl -n kern.bootsessionuuid)
}

marked() { :; }
is_left_of() { kill -0 -- "-$1" 2>/dev/null; }
inner_of() { :; }

# The shell of macOS takes whole seconds only for the other way.
doze() { sleep "$1"; }

is_over() { sleep "$1"; }

has_read() {
  for _ in 1 2 3 4 5; do
    kill -0 "$reader" 2>/dev/null || return 0
    sleep 0.02
  done
  return 1
}

hear_first() { heard=more; }
