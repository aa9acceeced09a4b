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

# The components together are what is installed, and no file is in two of them.
for component in library development tools; do
    mkdir -p "$work/parts/$component"
    cmake --install "$build" --component "$component" --prefix "$work/parts/$component" >/dev/null
done
files() { (cd "$1" && find . -type f -o -type l) | sort; }
diff <(files "$prefix") <(for part in "$work"/parts/*; do files "$part"; done | sort)

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

# Errors cite documents, which come with the library.
cited=$(grep -rhE '\bdocs/' "$source_dir/src" "$source_dir/tools/sdpa" --include=*.cpp --include=*.h | grep -vE '^ *//' |
    grep -oE '\bdocs/[a-z-]+\.md' | sort -u)
documents=$(dirname "$(find "$prefix/share/doc" -name LICENSE)")
for document in $cited SECURITY.md; do
    if [[ ! -s $documents/$document ]]; then
        echo "$document is cited, and is not in $documents"
        exit 1
    fi
done

# The command, if this build has it, finds the library that was moved with it.
if [[ -x $prefix/bin/sdpa ]]; then
    "$prefix/bin/sdpa" run "$source_dir/graphs/stable-diffusion-1.5-middle.json" --verify
fi
