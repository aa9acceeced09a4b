// Graphs of attention that run by the kernels on the host, and cases for which the host has code.
#pragma once

#include "host_attention.h"
#include "reference/checks/check_case.h"

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace sdpa_test {

// Few multiprocessors, so that a block has several tiles.
inline constexpr cudnn_frontend::kernels::DeviceFacts kHostHopper{90, 2};

cudnn_frontend::Result<cudnn_frontend::kernels::AttentionGraph> read_graph(
    Session const& session, cudnn_frontend::kernels::DeviceFacts const& device = kHostHopper);

using AfterRun =
    std::function<void(cudnn_frontend::kernels::AttentionKernelProblem const&, cudnn_frontend::kernels::Pointers)>;
using BeforeRun = std::function<void(cudnn_frontend::kernels::AttentionKernelProblem&, std::vector<void*>&)>;

// Runs the session's graph by the kernels.
cudnn_frontend::error_t run_by_kernel(Session const& session, AfterRun const& after_run = {},
                                      BeforeRun const& before_run = {});

Rig rig_of_kernel();

// The sums that kernels of gradients leave in memory, after runs of the case whose additions come in different orders.
struct ShuffledRuns {
    std::string faults;  // of their results
    std::set<std::vector<std::byte>> sums;
};
ShuffledRuns shuffled_runs(AttentionCase const& c);

struct Columns {
    std::int64_t d_qk, d_v;
};

AttentionCase plain_case(DataType_t type, Columns const& columns);
// A gradient of the bias with the dims of the scores.
void add_bias_gradient(AttentionCase& c);

AttentionCase random_kernel_case(std::uint64_t seed);
// Sequences of different lengths, one behind the other.
AttentionCase random_packed_case(std::uint64_t seed);
// Keys, values or both in pages, and queries of either kind.
AttentionCase random_paged_case(std::uint64_t seed);

}  // namespace sdpa_test
