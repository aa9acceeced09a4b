#!/usr/bin/env bash
# shared_test.sh <source folder> <build folder> <cmake option...>: builds the shared library.
set -euo pipefail
source=$1 build=$2
shift 2
cmake -S "$source" -B "$build" -G Ninja -DSDPA_GRAPH_DEVELOPER=OFF -DSDPA_GRAPH_INSTALL=ON -DBUILD_SHARED_LIBS=ON "$@" \
    >/dev/null
cmake --build "$build"
