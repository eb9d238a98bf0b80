#!/usr/bin/env bash
# The linker for windows.sh; rustc knows by the name gcc how to call it. rustc puts import libraries into a folder with a
# random name, and ld sorts the imports of a program by the paths of these libraries. At fixed paths, equal sources make
# equal programs.
#
# usage: packaging/windows/gcc.sh ARGUMENT...
set -euo pipefail
folder=target/package/imports
mkdir -p "$folder"
arguments=()
for argument in "$@"; do
    case $argument in
    */rustc??????/*.lib)
        cp "$argument" "$folder/"
        argument=$folder/${argument##*/}
        ;;
    esac
    arguments+=("$argument")
done
exec x86_64-w64-mingw32-gcc "${arguments[@]}"
