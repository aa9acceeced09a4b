// The comparison with the reference, as run and verify use and print it.
#pragma once

#include "data/memory.h"

#include <cudnn_frontend/verification.h>

namespace sdpa {

using Verdict_options = fe::Verification_options;

// The roundoff of products in TF32, as GPUs and kernels of others may compute them.
constexpr double kRoundoffOfTf32 = 0x1p-11;

// --most-scores and --search-seconds.
void add_verdict_options(CLI::App& command, Verdict_options& options);

// Compares the results in memory with the reference of a graph that is built for the host. Throws Failure.
fe::Verification compare(fe::graph::Graph const& graph, Memories& memories, Verdict_options const& options);

// The verification's text in words of the command, with a verdict in color.
std::string verdict_text(fe::Verification const& verification);

}  // namespace sdpa
