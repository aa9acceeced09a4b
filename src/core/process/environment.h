// The environment variables of the process. One that is set but empty counts as not set.
// core/process/process_settings.h reads those that a program can override; the layers that open a library name the
// variables by which it is found.
#pragma once

#include <cudnn_frontend/types.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace cudnn_frontend::core::environment {

// The value; empty where the variable is not set.
std::string variable(char const* name);
// The values of the variables that are set.
std::vector<std::string> variables(std::initializer_list<char const*> names);

// SDPA_GRAPH_IGNORE_LIMITS: skips the tables of limits, so that backends ask for engines of every graph.
bool ignores_limits();

// SDPA_GRAPH_CHECK_INDICES: whether runs on a GPU first check lengths, offsets, page tables and FP8 factors; 0 counts
// as not set.
bool checks_indices();

// SDPA_GRAPH_SHAPE_POLICY: exact, classes or auto; nothing where it is something else.
std::optional<ShapePolicy_t> shape_policy();

// SDPA_GRAPH_CPU_KERNELS: the instruction set whose kernels attention on the CPU runs; empty where it is not set.
std::string cpu_kernels();

// SDPA_GRAPH_PIN_THREADS: whether each thread that helps on the CPU stays on one of the process's CPUs; 0 counts as not
// set.
bool pins_threads();

// SDPA_GRAPH_KEPT_BYTES: how many bytes of graphs and plans are kept for being used again; 256 MiB where it is not set
// or not a number.
std::size_t kept_bytes();

// SDPA_GRAPH_REPLAY_AFTER: how many launches of a plan come before the first that is a replay; -1 for "never", 16 where
// it is not set or something else.
std::int64_t replay_after();

// SDPA_GRAPH_VERIFY_FIRST_RUNS: whether the first run of a plan is compared with the reference; 0 counts as not set.
bool verifies_first_runs();

// SDPA_GRAPH_PLAN_STORE: the folder of the plan store; empty where it is not set.
std::string plan_store();
// SDPA_GRAPH_PLAN_STORE_FROZEN: whether nothing is written there; 0 counts as not set.
bool is_plan_store_frozen();
// SDPA_GRAPH_PLAN_STORE_WANTED: the folder for graphs of which something was compiled; empty where it is not set.
std::string wanted_of_plan_store();

// SDPA_GRAPH_CAPSULES: the folder for a capsule of each build or run that fails; empty where it is not set.
std::string capsules();

// CUDNN_FRONTEND_LOG_INFO: a number above 0 enables the log; 0 where it is not set or not a number.
int log_level();
// CUDNN_FRONTEND_LOG_FILE: stdout, stderr or a file; without it there is no log.
std::string log_file();

}  // namespace cudnn_frontend::core::environment
