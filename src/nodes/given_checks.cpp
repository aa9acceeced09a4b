#include "nodes/length_checks.h"

#include "nodes/wording.h"

namespace cudnn_frontend::inline v1::nodes {

void expect_given_lengths(RuleScope const& scope, std::span<int const> ports) {
    for (int const port : ports) {
        TensorId const id = scope.node().ports[static_cast<std::size_t>(port)];
        if (id == kNoTensor) continue;
        auto const& writers = scope.uses()[static_cast<std::size_t>(id)].writers;
        if (writers.empty()) continue;
        scope.report_port(port,
                          text(port_name(scope.node().kind(), port), " that is computed as ",
                               label(scope.graph(), *writers[0].node), ".", writers[0].port->name),
                          "lengths that are known before the graph runs",
                          "compute them before, make a tensor for them with the graph's tensor() and pass a pointer");
    }
}

}  // namespace cudnn_frontend::inline v1::nodes
