#!/bin/sh
# tools/run_gpu.sh with stand-ins for the programs: its table, its last line and how it ends.
#   run_gpu_test.sh <tools/run_gpu.sh> <empty folder for its files>
set -eu
script=$1 folder=$2
cd "$(dirname "$script")/.."
rm -rf "$folder"
mkdir -p "$folder/build/test/gpu" "$folder/build/python" "$folder/bin"
touch "$folder/build/python/_core.so"
programs=$folder/build/test/gpu

# program <path> <its lines of shell>
program() {
    printf '#!/bin/sh\n%s\n' "$2" >"$1"
    chmod +x "$1"
}
expect() {
    if ! grep -q -- "$1" "$folder/output"; then
        echo "missing: $1"
        cat "$folder/output"
        exit 1
    fi
}
run() {
    PATH="$folder/bin:$PATH" SDPA_GRAPH_CUDNN_PATH=/here/libcudnn.so.9 "$script" "$folder/build" "$@" \
        >"$folder/output" 2>&1 || return $?
}
fails() { if run "$@"; then echo "did not fail: $*"; cat "$folder/output"; exit 1; fi; }

suite='if [ "$1" = gpu ]; then echo "NVIDIA H200 (9.0), cuDNN 9.19.0"; exit; fi; echo "suite of $1"'
program "$programs/gpu_suite" "$suite"
program "$programs/gpu_streams" 'echo "0 failures"'
program "$programs/gpu_features" 'echo "0 failures"'
program "$programs/gpu_kernels" 'echo "kernels: $1"'
program "$programs/gpu_attention" 'echo "attention: $1"'
program "$programs/gpu_neighborhood" 'echo "neighborhoods: $1"'
program "$programs/gpu_plans" 'echo "plans: $1"'
program "$programs/gpu_groups" 'echo "there are fewer than two GPUs"; exit 77'
program "$folder/bin/ctest" 'echo "100% tests passed"'
program "$folder/bin/compute-sanitizer" 'echo "ERROR SUMMARY: 0 errors"'
program "$folder/bin/python3" 'echo "3 passed"'
program "$folder/bin/cmake" '[ "$1" = --install ]'

SDPA_GRAPH_GPU_CASES=1000-2000 run || { cat "$folder/output"; exit 1; }
expect 'suite of 1000-2000'
expect '^NVIDIA H200 (9.0), cuDNN 9.19.0  *ok '
expect '^gpu: ok, 8 of 8 steps are ok$'
run 9.19 9.14
expect '^gpu: ok, 8 of 8'
fails 9.1
expect 'of version 9.1'

# Two GPUs, a rank of which fails in the end.
mkdir "$folder/build/samples"
program "$programs/gpu_groups" 'if [ "$1" = count ]; then echo 2; else echo "groups of $*"; fi'
program "$folder/build/samples/sample_30_several_gpus" 'echo "ranks: $*"'
SDPA_GRAPH_GPU_CASES=20-30 run || { cat "$folder/output"; exit 1; }
expect '^gpu: ok, 9 of 9 steps are ok$'
groups=$folder/log/gpu/1/groups.log
for text in 'groups of 20-30' 'groups of recorded 40' 'ranks: --target cuda' 'ranks: --rank 0 --of 2' 'ranks: --rank 1 --of 2' '3 passed'; do
    grep -q -- "$text" "$groups" || { echo "missing: $text"; cat "$groups"; exit 1; }
done
program "$folder/build/samples/sample_30_several_gpus" 'if [ "$2" = 0 ]; then echo "no rank 1"; exit 1; fi'
fails
expect '^groups    failed .* no rank 1'
expect '^gpu: FAILED, 8 of 9'
program "$programs/gpu_groups" 'exit 77'

# A step that fails, one that skips, a memory fault.
program "$programs/gpu_features" 'echo "1 failures"; exit 1'
program "$folder/bin/ctest" 'echo "3: skipped: there is no GPU here"'
program "$folder/bin/compute-sanitizer" 'echo "ERROR SUMMARY: 0 errors"; echo "ERROR SUMMARY: 2 errors"'
fails
expect '^features  failed .* 1 failures'
expect '^samples   skipped'
expect '^memcheck  failed'
expect '^gpu: FAILED, 3 of 8 steps are ok$'

# A refusal by limits is a fault only on 9.0.
program "$programs/gpu_features" 'exit 0'
program "$folder/bin/compute-sanitizer" 'echo "ERROR SUMMARY: 0 errors"'
program "$folder/bin/ctest" 'echo "9/9 Test sample_25_fp8_cuda ...***Skipped"'
fails
expect '^gpu: FAILED, 6 of 8'
program "$programs/gpu_suite" "$(echo "$suite" | sed 's/H200 (9.0)/A100 (8.0)/')"
run || { cat "$folder/output"; exit 1; }

# A stop by time, as timeout(1) makes it: reports what did not run, and leaves no process behind.
program "$programs/gpu_features" 'while :; do date +%s.%N >"'"$folder"'/alive"; sleep 0.1; done'
begin=$(date +%s)
status=0
PATH="$folder/bin:$PATH" SDPA_GRAPH_CUDNN_PATH=/here/libcudnn.so.9 timeout 3 "$script" "$folder/build" \
    >"$folder/output" 2>&1 || status=$?
[ "$status" -ne 0 ] && [ $(($(date +%s) - begin)) -lt 30 ] || { echo "stopped with $status"; exit 1; }
expect '^gpu: STOPPED before its end, 5 of 8 steps are ok$'
expect 'not run'
last=$(cat "$folder/alive")
sleep 1
[ "$last" = "$(cat "$folder/alive")" ] || { echo "a step goes on after the stop"; exit 1; }
