# Closes what our starter inherited from others and never meant to pass on: descriptors above $1, save the script's own.
# A command could use them, and a process that outlives everyone would keep their other ends waiting.
close_inherited() {
  for descriptor in /dev/fd/*; do
    descriptor=${descriptor##*/}
    if [ "$descriptor" -gt "$1" ] && ! [ "/dev/fd/$descriptor" -ef "$0" ]; then eval "exec $descriptor>&-"; fi
  done 2>/dev/null
}
