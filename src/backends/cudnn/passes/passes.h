// Legalization: from the mathematics of an op graph to a form of it that cuDNN's engines accept and compute right.
#pragma once

#include "cudnn/passes/draft.h"

#include <functional>
#include <span>
#include <string_view>

namespace cudnn_frontend::cudnn::passes {

// A pure function. The interpreter computes the same from its input and from its output; docs/cudnn-passes.md says what
// each pass is for.
struct Pass {
    char const* name;
    char const* quirk;  // of cuDNN, which is its reason: cudnn.w01
    GraphDraft (*run)(GraphDraft draft);
};

// The passes in the order in which they run: some rely on the form that earlier ones produce.
std::span<Pass const> all();

Result<LegalGraph> run(Pass const& pass, LegalGraph const& graph);

// Whether the quirk of a pass applies where the graph will run; the pass is left out where it does not.
using IsInForce = std::function<bool(std::string_view quirk)>;
Result<LegalGraph> legalize(LegalGraph const& graph, IsInForce const& is_in_force);

}  // namespace cudnn_frontend::cudnn::passes
