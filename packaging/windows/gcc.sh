#!/usr/bin/env bash
# The linker for windows.sh; rustc knows by the name gcc how to call it. ld sorts the imports of a program by the paths
# of the libraries that name them. Paths that begin in the project's folder are the same in every folder.
#
# usage: packaging/windows/gcc.sh ARGUMENT...
exec x86_64-w64-mingw32-gcc "${@/#"$PWD/"/}"
