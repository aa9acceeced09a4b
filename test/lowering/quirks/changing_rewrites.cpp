#include "lowering/quirks/changing_rewrites.h"

#include "cudnn/planning/lowering.h"

namespace sdpa_test {

using namespace cudnn_frontend;

std::vector<quirks::Quirk const*> changing_rewrites(nodes::ValidatedGraph const& graph,
                                                    quirks::Capabilities const& here) {
    cudnn::LegalGraph const whole = cudnn::op_graph_for_cudnn(graph, here).value();
    std::vector<quirks::Quirk const*> changing;
    for (quirks::Quirk const& quirk : quirks::quirks()) {
        bool const is_rewrite = quirk.verdict == quirks::Verdict::Rewrite && quirk.is_in_force(here);
        if (is_rewrite && !same_work(whole, cudnn::op_graph_for_cudnn(graph, here, quirk.id).value()))
            changing.push_back(&quirk);
    }
    return changing;
}

}  // namespace sdpa_test
