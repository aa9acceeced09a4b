#!/usr/bin/env bash
# abi_namespace_test.sh <source folder> <library> <work folder> <compiler> <cmake option...>: the library configured with a
# namespace of its own. Checks its symbols, its list of exports, the definitions that programs get, and a program that links
# a part of it and the given library.
set -euo pipefail
source=$1 library=$2 work=$3 compiler=$4
shift 4
here=$source/test/package
mkdir -p "$work"

configure() {
    cmake -S "$source" -B "$work/$1" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Debug \
        -DSDPA_GRAPH_DEVELOPER=OFF -DSDPA_GRAPH_INSTALL=ON -DBUILD_SHARED_LIBS=ON "${@:2}"
}
expect() {
    if ! grep -qF -e "$1" "$2"; then
        echo "$2 lacks: $1"
        exit 1
    fi
}

if configure refused -DSDPA_GRAPH_ABI_NAMESPACE=my-attention >"$work/refused.txt" 2>&1; then
    echo "a namespace that is no name is taken"
    exit 1
fi
expect 'SDPA_GRAPH_ABI_NAMESPACE is "my-attention"; expected a name of letters' "$work/refused.txt"

configure other -DSDPA_GRAPH_ABI_NAMESPACE=other_attention "$@" >/dev/null
cmake --build "$work/other" --target layer_core layer_attention
rm -f "$work/libother.a"
find "$work/other/src/core" "$work/other/src/attention" -name '*.o' -exec ar rcs "$work/libother.a" {} +
if nm --demangle --defined-only "$work/libother.a" | grep -F 'cudnn_frontend::'; then
    echo "the names above are still in the namespace cudnn_frontend"
    exit 1
fi

expect 'other_attention::*;' "$work/other/src/exports.map"
expect 'sdpa_graph_other_attention::*;' "$work/other/src/exports.map"
targets=$(find "$work/other/CMakeFiles/Export" -name sdpa_graphTargets.cmake)
definitions='cudnn_frontend=other_attention;sdpa_graph=sdpa_graph_other_attention'
expect "INTERFACE_COMPILE_DEFINITIONS \"$definitions\"" "$targets"
expect " -D${definitions/;/ -D}" "$work/other/package/sdpa_graph.pc"
expect ' -lsdpa_graph_other_attention' "$work/other/package/sdpa_graph.pc"

flags=(-std=c++17 -Wall -Wextra -Werror -I "$source/include" -c "$here/two_versions.cpp")
"$compiler" "${flags[@]}" -DSDPA_TEST_VERSION=first_version -o "$work/first.o"
"$compiler" "${flags[@]}" -DSDPA_TEST_VERSION=second_version -Dcudnn_frontend=other_attention -o "$work/second.o"
"$compiler" "${flags[@]}" -o "$work/main.o"
"$compiler" "$work"/{main,first,second}.o "$library" "$work/libother.a" -Wl,-rpath,"$(dirname "$library")" -pthread -ldl \
    -o "$work/two_versions"
"$work/two_versions"
