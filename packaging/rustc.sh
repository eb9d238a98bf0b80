#!/bin/sh
# rustc for packages, by RUSTC_WRAPPER: the program names none of the builder's folders. These options
# cannot stand in RUSTFLAGS, which the program records, and which would then name them itself.
#
# usage: OSCOPE_SOURCES=DIR OSCOPE_CARGO_HOME=DIR packaging/rustc.sh RUSTC ARGUMENT...
exec "$@" --remap-path-prefix="$OSCOPE_SOURCES=/oscope" --remap-path-prefix="$OSCOPE_CARGO_HOME=/cargo"
