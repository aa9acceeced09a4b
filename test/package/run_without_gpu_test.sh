#!/usr/bin/env bash
# ./run gpu, device and rates say in one line that there is no GPU, and build nothing; with a GPU they go on.
#   run_without_gpu_test.sh <source folder> <C compiler> <folder of its own>
set -euo pipefail
source=$1 compiler=$2 folder=$3

# A copy without the library's sources: a command that goes on fails at once, when it looks for them.
rm -rf "$folder"
mkdir -p "$folder/tools"
cp "$source/run" "$folder"
cp "$source/tools/find_gpu.py" "$folder/tools"
cd "$folder"

# make_driver <what cuInit returns> <number of GPUs>: a stand-in for NVIDIA's driver, found before any other.
make_driver() {
    mkdir -p driver
    printf '%s\n' "int cuInit(unsigned flags) { return flags == 0 ? $1 : 1; }" \
        "int cuDeviceGetCount(int* count) { return *count = $2, 0; }" >driver/driver.c
    "$compiler" -shared -fPIC -Wl,-soname,libcuda.so.1 -o driver/libcuda.so.1 driver/driver.c
}

fail() {
    echo "$1" >&2
    exit 1
}

# expect_refusal <command> <reason>
expect_refusal() {
    local said status=0 expected="run: $1 needs an NVIDIA GPU, and none can be used here: $2"
    said=$(LD_LIBRARY_PATH=$folder/driver ./run "$1" 2>&1) || status=$?
    if ((status != 1)); then fail "./run $1 ended with $status: $said"; fi
    if [[ $said != "$expected" ]]; then fail "./run $1 said: $said; expected: $expected"; fi
    if [[ -n $(ls -A build/log) ]]; then fail "./run $1 started to build"; fi
}

make_driver 100 0
for command in gpu device rates; do expect_refusal "$command" "NVIDIA's driver finds no GPU"; done
make_driver 0 0
expect_refusal gpu "NVIDIA's driver finds no GPU"
make_driver 803 0
expect_refusal gpu "NVIDIA's driver does not start (cuInit returned 803); nvidia-smi may say why"
echo "no library" >driver/libcuda.so.1
expect_refusal gpu "libcuda.so.1, which comes with NVIDIA's driver, cannot be loaded"

# Packages that are missing are not installed for this.
mkdir bin
printf '%s\n' '#!/bin/sh' 'exit 1' >bin/apt-get
chmod +x bin/apt-get
make_driver 0 1
if PATH=$folder/bin:$PATH LD_LIBRARY_PATH=$folder/driver ./run rates >rates.txt 2>&1; then fail "./run rates succeeded without sources"; fi
if grep -q "needs an NVIDIA GPU" rates.txt; then fail "a GPU was not found: $(<rates.txt)"; fi
