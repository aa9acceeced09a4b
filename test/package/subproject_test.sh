#!/usr/bin/env bash
# subproject_test.sh <source folder> <consumer project> <build folder> <compiler>: a project that has this one as its
# subdirectory gets the library's targets and no developer targets. The library itself is compiled by other tests.
set -euo pipefail
source=$1 consumer=$2 build=$3 compiler=$4

cmake -S "$consumer" -B "$build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Debug \
    -DSDPA_GRAPH_SOURCE="$source" >/dev/null
targets=$(ninja -C "$build" -t targets all)
if grep -E '(^|/)(demo|sample_[a-z0-9_]+|bench_[a-z0-9_]+|[a-z_]+_test):' <<<"$targets"; then
    echo "a subproject brings developer targets"
    exit 1
fi
grep -q 'libsdpa_graph\.a: CXX_STATIC_LIBRARY_LINKER' <<<"$targets"
ninja -C "$build" -n consumer consumer_of_frontend >/dev/null
cmake --build "$build" --target layer_core
