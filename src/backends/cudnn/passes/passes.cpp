#include "cudnn/passes/passes.h"

#include "cudnn/passes/edge_masks.h"
#include "cudnn/passes/index_tables.h"
#include "cudnn/passes/softmax_results.h"

#include <utility>

namespace cudnn_frontend::cudnn::passes {

static constexpr Pass kPasses[] = {
    {"add unread logarithm", "cudnn.w02", add_unread_logarithm},
    {"place softmax rows", "cudnn.w03", place_softmax_rows},
    {"tabulate ALiBi", "cudnn.w04", tabulate_alibi},
    {"tabulate indices", "cudnn.w05", tabulate_indices},
    {"turn edge masks", "cudnn.w01", turn_edge_masks},
};

std::span<Pass const> all() { return kPasses; }

Result<LegalGraph> run(Pass const& pass, LegalGraph const& graph, core::Capabilities const& capabilities) {
    return pass.run(Draft(graph), capabilities).finish();
}

Result<LegalGraph> legalize(ir::OpGraph graph, core::Capabilities const& capabilities) {
    Draft draft({std::move(graph)});
    for (Pass const& pass : kPasses) draft = pass.run(std::move(draft), capabilities);
    return std::move(draft).finish();
}

}  // namespace cudnn_frontend::cudnn::passes
