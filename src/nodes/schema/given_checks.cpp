#include "nodes/schema/rule.h"

#include "nodes/schema/wording.h"

namespace cudnn_frontend::nodes {
namespace {

void expect_given(RuleScope const& scope, std::span<int const> ports, char const* needed, char const* fix) {
    for (int const port : ports) {
        TensorId const id = scope.node().ports[static_cast<std::size_t>(port)];
        if (id == kNoTensor) continue;
        auto const& writers = scope.uses()[static_cast<std::size_t>(id)].writers;
        if (writers.empty()) continue;
        scope.report_port(port,
                          text(kPort, " that is computed as ", label(*writers[0].node), ".", writers[0].port->name),
                          needed, fix);
    }
}

}  // namespace

void expect_given_lengths(RuleScope const& scope, std::span<int const> ports) {
    expect_given(scope, ports, "lengths that are known before the graph runs",
                 "compute them before, make a tensor for them with the graph's tensor() and pass a pointer");
}

void expect_given_tables(RuleScope const& scope, std::span<int const> ports) {
    expect_given(scope, ports, "a table that is known before the graph runs",
                 "make a tensor for it with the graph's tensor(), and pass a pointer");
}

}  // namespace cudnn_frontend::nodes
