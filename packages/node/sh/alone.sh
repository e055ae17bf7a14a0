# Becomes the given program, with nothing inherited but descriptors 0 to 3.
#
#   bash --posix alone.sh PROGRAM ARGUMENT...
. "${0%/*}/inherited.sh"
close_inherited 3
exec "$@"
