#!/usr/bin/env bash
# install_test.sh <build folder> <consumer project> <work folder> <compiler>: the package is installed and moved; then
# programs are built against it through CMake and through pkg-config, and run, and so is the command sdpa.
set -euo pipefail
build=$1 consumer=$2 work=$3 compiler=$4
rm -rf "$work"
mkdir -p "$work"

cmake --install "$build" --prefix "$work/first" >/dev/null
mkdir "$work/moved"
mv "$work/first" "$work/moved/prefix"
prefix=$work/moved/prefix

source_dir=$(cd "$consumer/../../.." && pwd)
if find "$prefix" -name '*.cmake' -o -name '*.pc' | xargs grep -lF -e "$work" -e "$build" -e "$source_dir"; then
    echo "these files name the place that the package was built in or installed to"
    exit 1
fi

cmake -S "$consumer" -B "$work/build" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON >/dev/null
cmake --build "$work/build"
"$work/build/consumer"
"$work/build/consumer_of_frontend"

cmake -S "$consumer/../frontend_consumer" -B "$work/build_of_frontend" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" >/dev/null
cmake --build "$work/build_of_frontend"
"$work/build_of_frontend/by_namespace"

package=$(dirname "$(find "$prefix" -name sdpa_graph.pc)")
libraries=$(dirname "$package")
read -ra flags <<<"$(PKG_CONFIG_PATH=$package pkg-config --cflags --libs sdpa_graph)"
"$compiler" -std=c++17 "$consumer/main.cpp" "${flags[@]}" -o "$work/consumer"
LD_LIBRARY_PATH=$libraries "$work/consumer"

# The command, if this build has it, finds the library that was moved with it.
if [[ -x $prefix/bin/sdpa ]]; then
    "$prefix/bin/sdpa" run "$source_dir/graphs/stable-diffusion-1.5-middle.json" --verify
fi
