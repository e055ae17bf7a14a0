# Closes what our starter inherited from others and never meant to pass on: descriptors above $1, save the script's own.
# A command could use them, and a process that outlives everyone would keep their other ends waiting.
# The loop redirects nothing: the shell keeps what it put aside for that above $1 as well, and it would be closed.
close_inherited() {
  for descriptor in /dev/fd/*; do
    descriptor=${descriptor##*/}
    case $descriptor in *[!0-9]*) continue ;; esac
    if [ "$descriptor" -gt "$1" ] && ! [ "/dev/fd/$descriptor" -ef "$0" ]; then eval "exec $descriptor>&-"; fi
  done
}
