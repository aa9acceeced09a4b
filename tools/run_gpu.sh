#!/usr/bin/env bash
# All that needs a GPU, with one cuDNN after the other; nothing may be skipped. With two GPUs or more, also what needs
# several. ./run gpu builds it, and ends here.
#   tools/run_gpu.sh <build folder> [version...]   9.14: of the cuDNN libraries that are found, those of that version
# SDPA_GRAPH_CUDNN_PATH: this library alone. SDPA_GRAPH_GPU_CASES: how many random cases, or which: 1000-2000.
# SDPA_GRAPH_GPU_STEPS: these steps of the table alone, such as "kernels groups".
# Whatever ends it, except SIGKILL, it ends with a table, and with a line that says how many steps were right. The output
# of each step is in log/gpu next to the build folder, that of the run before in log/gpu.before.
set -euo pipefail

build=$1
logs=$(dirname "$build")/log/gpu
packages=$(realpath "$build")/python/packages
steps=(suite features plans kernels samples compat memcheck python)
state="STOPPED before its end"

main() {
    local folder
    rm -rf "$logs.before" "$packages"
    if [[ -d $logs ]]; then mv "$logs" "$logs.before"; fi
    mkdir -p "$logs"
    prepare "$@"
    gpus=$("$build/test/gpu/gpu_groups" count) || gpus=1
    if ((gpus > 1)); then steps+=(groups); fi
    if [[ -n ${SDPA_GRAPH_GPU_STEPS:-} ]]; then read -ra steps <<<"$SDPA_GRAPH_GPU_STEPS"; fi
    trap finish EXIT
    trap stop TERM INT HUP
    set -m  # lanes are process groups, which can be stopped whole
    for folder in "$logs"/*/; do test_with "${folder%/}"; done
    state=FAILED
}

# A folder for each cuDNN that is to be tested, with its library and the GPU.
prepare() {
    local library gpu folder count=0
    while read -r library; do
        if ! gpu=$(SDPA_GRAPH_CUDNN_PATH=$library "$build/test/gpu/gpu_suite" gpu); then
            echo "$library: $gpu" >&2
            exit 1
        fi
        if ! is_wanted "${gpu##*cuDNN }" "$@"; then continue; fi
        folder=$logs/$((++count))
        mkdir "$folder"
        echo "$library" >"$folder/library"
        echo "$gpu" >"$folder/gpu"
    done < <(libraries)
    if ((count == 0)); then
        echo "no libcudnn.so.9 was found${1:+ of version $*}, so nothing was tested; install one (pip install" \
            "nvidia-cudnn-cu13) or name one in SDPA_GRAPH_CUDNN_PATH" >&2
        exit 1
    fi
}

# is_wanted <version> [wanted version...]
is_wanted() {
    local version=$1 wanted
    shift
    for wanted in "$@"; do
        if [[ $version. == "$wanted".* ]]; then return 0; fi
    done
    (($# == 0))
}

# The libcudnn.so.9 that the caller chose, or each that Python packages, the system and the toolkit brought.
libraries() {
    local folder
    if [[ -n ${SDPA_GRAPH_CUDNN_PATH:-} ]]; then
        echo "$SDPA_GRAPH_CUDNN_PATH"
        return
    fi
    {
        python3 -c 'import nvidia.cudnn; print(list(nvidia.cudnn.__path__)[0] + "/lib")' 2>/dev/null || true
        printf '%s\n' /usr/lib/x86_64-linux-gnu /usr/local/cuda/lib64
    } | while read -r folder; do
        if [[ -e $folder/libcudnn.so.9 ]]; then readlink -f "$folder/libcudnn.so.9"; fi
    done | sort -u
}

# The suite takes all cores; the other steps mostly wait for one, and run at the same time.
test_with() {
    local folder=$1 gpu=$build/test/gpu
    echo "$(<"$folder/gpu"): $(<"$folder/library")"
    export SDPA_GRAPH_CUDNN_PATH
    SDPA_GRAPH_CUDNN_PATH=$(<"$folder/library")
    step suite "$gpu/gpu_suite" "${SDPA_GRAPH_GPU_CASES:-300}" &
    { step features run_features && step plans run_stored_plans; } &
    { step samples run_programs '^sample_' && step compat run_programs '^compat\.' && step memcheck run_memcheck; } &
    step python run_python &
    wait
    step kernels run_kernels &  # alone, since it measures
    wait
    if ((gpus > 1)); then step groups run_groups & fi  # alone, since ranks wait for each other
    wait
}

# step <name> <command...>: runs it if it is wanted. Its result, such as "ok 41 s", is in a file from then on.
step() {
    if [[ " ${steps[*]} " != *" $1 "* ]]; then return; fi
    local name=$1 log=$folder/$1.log begin=$SECONDS code=0 result=ok report
    shift
    "$@" >"$log" 2>&1 || code=$?
    if ((code == 77)); then result=skipped; elif ((code != 0)); then result=failed; fi
    echo "$result $((SECONDS - begin)) s" >"$folder/$name.result"
    report=$(printf '%-9s %-12s %s' "$name" "$(<"$folder/$name.result")" "$(tail -n 1 "$log")")
    if [[ $result != ok ]]; then report+=$'\n'"$(tail -n 60 "$log")"$'\n'"full log: $log"; fi
    echo "$report"
}

# The features of streams, which need no cuDNN, and those of its plans.
run_features() { "$gpu/gpu_streams" && "$gpu/gpu_features"; }

run_stored_plans() {
    local plans=$build/plans
    rm -rf "$plans"
    mkdir -p "$plans"
    "$gpu/gpu_plans" device "$plans" && "$gpu/gpu_plans" store "$plans" && "$gpu/gpu_plans" run "$plans"
}

# The tests of that name with the label gpu. ctest counts those that skip as passed. Limits may refuse one, as FP8 on
# older GPUs, but not on compute capability 9.0.
run_programs() {
    SDPA_TEST_NEEDS_GPU=1 ctest --test-dir "$build" -L '^gpu$' -R "$1" -V -j 4 --no-tests=error || return 1
    if grep -qE '\*\*\*Not Run|\(Disabled\)|^[0-9]+: skipped' "$log"; then return 77; fi
    if [[ $(<"$folder/gpu") == *"(9.0)"* ]] && grep -qF '***Skipped' "$log"; then return 77; fi
}

# The library's own: right, fast, and clean under the sanitizer. A replay asks the driver for a kernel's parameters until
# an error says that there are no more.
run_kernels() {
    "$gpu/gpu_kernels" && "$gpu/gpu_attention" && "$gpu/gpu_neighborhood" || return
    sanitize memcheck "$gpu/gpu_kernels" small && sanitize racecheck "$gpu/gpu_kernels" racecheck &&
        sanitize memcheck --report-api-errors no "$gpu/gpu_attention" 0 alibi && sanitize memcheck "$gpu/gpu_neighborhood" 60
}

run_memcheck() { sanitize memcheck "$gpu/gpu_suite" 0 causal; }

# sanitize <tool> <command...>
# In all processes, of which shells and others have nothing to do with CUDA.
sanitize() {
    local tool=$1
    shift
    if ! command -v compute-sanitizer; then
        echo "compute-sanitizer is not here; it comes with the CUDA toolkit"
        return 1
    fi
    compute-sanitizer --tool "$tool" --target-processes all --require-cuda-init no --error-exitcode 9 "$@" || return 1
    grep -qE '(ERROR|RACECHECK) SUMMARY: 0 ' "$log" && ! grep -qE '(ERROR|RACECHECK) SUMMARY: [1-9]' "$log"
}

# The tests of the Python packages, as python3 finds torch. That loads a cuDNN of its own, which the process then uses: a
# second one next to it would be given the first one's parts.
run_python() {
    install_packages || return
    printf '%s\0' test/python/test_*.py |
        env -u SDPA_GRAPH_CUDNN_PATH PYTHONPATH="$packages" xargs -0 -n 1 -P 8 bash -c "$pytest_quietly" || return 1
    sum_of_pytest
    # The existing package and its notebooks are not ours to keep here.
    if grep '^SKIPPED' "$log" | grep -qvE 'SDPA_GRAPH_(NOTEBOOKS|EXISTING_PYTHON)'; then return 77; fi
}

install_packages() {
    if [[ -d $packages ]]; then return; fi
    if [[ -z $(find "$build/python" -maxdepth 1 -name '_core.*') ]]; then
        echo "the Python packages were not built: python3 has no pybind11 (pip install pybind11)"
        return 77
    fi
    mkdir -p "$packages"
    cmake --install "$build" --component python --prefix "$packages" >/dev/null &&
        cp -r python/sdpa_graph python/cudnn/cudnn.py "$packages"
}

# Tests one file, and prints all of its output at once, since other files are tested at the same time.
pytest_quietly='output=$(python3 -B -m pytest -q -rs --durations 3 -p no:cacheprovider "$0" 2>&1); code=$?; echo "$output"; exit $code'

sum_of_pytest() {
    grep -E '^[0-9]+ (passed|skipped).* in [0-9.]+s' "$log" |
        awk '{ for (i = 1; i < NF; ++i) if ($(i + 1) ~ /^(passed|skipped)/) sum[$(i + 1) ~ /^p/] += $i }
             END { printf "%d passed, %d skipped\n", sum[1], sum[0] }'
}

# One attention by all GPUs: random cases, and the samples, whose ranks are threads of a process or processes.
run_groups() {
    "$gpu/gpu_groups" "${SDPA_GRAPH_GPU_CASES:-300}" && "$gpu/gpu_groups" recorded 40 &&
        "$build/samples/sample_30_several_gpus" --target cuda && run_ranks && install_packages || return
    env -u SDPA_GRAPH_CUDNN_PATH PYTHONPATH="$packages" python3 -B -m torch.distributed.run --standalone \
        --nproc-per-node "$gpus" samples/python/04_several_gpus.py
}

run_ranks() {
    local rank code=0 ranks=()
    rm -f "$folder/group_id"
    for ((rank = 0; rank < gpus; ++rank)); do
        "$build/samples/sample_30_several_gpus" --rank "$rank" --of "$gpus" --id "$folder/group_id" &
        ranks+=($!)
    done
    for rank in "${ranks[@]}"; do wait "$rank" || code=$?; done
    return "$code"
}

stop() {
    local lane
    trap '' TERM INT HUP
    for lane in $(jobs -p); do kill -- "-$lane" 2>/dev/null || true; done
    wait
    exit 143
}

finish() {
    local folder name result good=0 all=0 code=1
    echo
    printf '%-44s' "" && printf '%-15s' "${steps[@]}" && echo
    for folder in "$logs"/*/; do
        printf '%-44s' "$(<"$folder/gpu")"
        for name in "${steps[@]}"; do
            result="not run"
            if [[ -e $folder/$name.result ]]; then result=$(<"$folder/$name.result"); fi
            if [[ $result == ok* ]]; then good=$((good + 1)); fi
            all=$((all + 1))
            printf '%-15s' "$result"
        done
        echo
    done
    if ((good == all)); then state=ok code=0; fi
    echo "gpu: $state, $good of $all steps are ok"
    exit "$code"
}

shift
main "$@"
