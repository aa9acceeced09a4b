#!/usr/bin/env bash
# find_cudnn_test.sh <source folder> <work folder>: cuDNN's headers are found among the packages of the Python that builds,
# old ones are passed over, and a build without them says so at its end, to pip's user too, with what is missing.
set -euo pipefail
source=$1 work=$2
rm -rf "$work"
packages=$work/root/environment/site-packages/nvidia
mkdir -p "$work/root"

# configure <name> [arguments]: with no other place to look than the folder root.
configure() {
    env -u CUDNN_HOME -u CUDA_HOME -u CUDA_PATH CUDNN_PATH="${cudnn_path:-}" cmake -S "$source/test/package/find_cudnn" \
        -B "$work/$1" -G Ninja -DSDPA_GRAPH_SOURCE="$source" -DPython_EXECUTABLE="$work/python" \
        -DCMAKE_FIND_ROOT_PATH="$work/root" -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY "${@:2}" 2>&1
}

# expect <output> <text>
expect() {
    if grep -qF -e "$2" <<<"$1"; then return; fi
    printf 'this output lacks "%s":\n%s\n' "$2" "$1"
    exit 1
}

# header <folder> <major> <minor>
header() {
    mkdir -p "$1"
    touch "$1/cudnn.h"
    printf '#define CUDNN_MAJOR %d\n#define CUDNN_MINOR %d\n' "$2" "$3" >"$1/cudnn_version.h"
}

printf '#!/bin/sh\necho "%s;/usr/lib/python3"\n' "${packages%/nvidia}" >"$work/python"
chmod +x "$work/python"

found=$(configure nothing)
expect "$found" "built WITHOUT its cuDNN target"
expect "$found" "Not found: cudnn.h of cuDNN 9.10 or newer, cuda_runtime_api.h of CUDA"
expect "$found" "pip install nvidia-cudnn-cu13 nvidia-cuda-runtime nvidia-cuda-crt"
found=$(cmake --build "$work/nothing")
expect "$(tail -n 16 <<<"$found")" "built WITHOUT its cuDNN target"
[[ $found == *"the library is linked"*WITHOUT* ]]

# pip shows nothing that the build prints.
configure by_pip -DSKBUILD=2 >/dev/null
at_terminal=$(python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' \
    sh -c "cmake --build '$work/by_pip' >'$work/hidden'" </dev/null)
expect "$at_terminal" "built WITHOUT its cuDNN target"
cmake --build "$work/by_pip" </dev/null >/dev/null

header "$packages/cudnn/include" 9 19
mkdir -p "$packages/cu13/include/crt"
touch "$packages/cu13/include/cuda_runtime_api.h"
expect "$(configure without_crt)" "Not found: crt/host_defines.h of CUDA"
touch "$packages/cu13/include/crt/host_defines.h"
found=$(configure packages)
expect "$found" "cuDNN target: headers 9.19 in $packages/cudnn/include"
expect "$found" "include folders: $packages/cudnn/include;$packages/cu13/include"
[[ $(cmake --build "$work/packages") != *WITHOUT* ]]

header "$work/root/old/include" 9 9
header "$work/root/new/include" 9 30
expect "$(cudnn_path=$work/root/old configure old)" "cuDNN target: headers 9.19 in $packages/cudnn/include"
expect "$(cudnn_path=$work/root/new configure new)" "cuDNN target: headers 9.30 in $work/root/new/include"
expect "$(configure chosen -DSDPA_GRAPH_CUDNN_INCLUDE_DIR="$work/root/old/include")" \
    "Not found: cudnn.h of cuDNN 9.10 or newer ($work/root/old/include has that of 9.9)"
