// Graph::set_batch_invariant() by the kernels of attention, on the host.
#include "support/batch_invariance.h"
#include "api/graph/graph_impl.h"
#include "host_attention.h"
#include "kernels/attention/attention_graph.h"
#include "nodes/validation/validate.h"
#include "support/catch.h"

#include <vector>

namespace fe = cudnn_frontend;
namespace kernels = cudnn_frontend::kernels;

TEST_CASE("rows of forward by warpgroups have the same bits in every batch") {
    constexpr kernels::DeviceFacts kHopper{90, 2};
    auto const run = [&](fe::graph::Graph& graph, sdpa_test::TensorBytes const& memory) -> fe::error_t {
        if (auto const error = graph.validate(); error.is_bad()) return error;
        auto const valid = fe::nodes::validate(fe::detail::Graph_access::snapshot(graph).spec).graph;
        auto const read = kernels::read_attention(*valid, kHopper, kernels::AttentionScope::InAnyBatch);
        if (read.is_bad()) return read.error();
        sdpa_test::HostMemory const workspace(kernels::workspace_of(read.value().problem).bytes);
        std::vector<void*> pointers;
        for (kernels::KernelPlace const& place : read.value().places) {
            pointers.push_back(place.is_in_workspace ? workspace.data() : memory.at(place.uid).data());
        }
        sdpa_test::run_on_host(read.value().problem, kHopper.multiprocessors, pointers);
        return {};
    };
    for (std::int64_t const columns : {64, 128}) CHECK(sdpa_test::faults_of_batch_invariance(columns, run) == "");
}
