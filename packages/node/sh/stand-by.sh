# Stands by to wrap commands, so that no shell has to start for each: it has read all it needs, and each wrapper is a fork of
# it, in a process group of its own. Ends when nobody is left who could ask; what it began goes on.
#
#   bash --posix stand-by.sh
#
# Reads lines of a number and the path of a file that calls wrap (see wrap.sh). Descriptor 3 also tells the wrapper's pid.
set -m
. "${0%/*}/inherited.sh"
close_inherited 3
. "${0%/*}/wrap.sh"
while IFS=' ' read -r number request; do
  (. "$request") </dev/null &
  printf '%s pid %s\n' "$number" "$!" >&3
done
