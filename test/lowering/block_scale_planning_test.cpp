// The answers of this cuDNN to block-scaled attention for Blackwell: a plan, or a limit with the reason.
#include "lowering/block_scale_graphs.h"
#include "lowering/has_cudnn.h"
#include "support/catch.h"

using namespace cudnn_frontend;
using sdpa_test::BlockScaleGraph;
using sdpa_test::has_cudnn;

TEST_CASE("block-scaled forward has a plan for Blackwell from cuDNN 9.21.1 on, and a limit before", "[offline]") {
    if (!has_cudnn()) return;
    for (bool const is_causal : {false, true}) {
        auto graph = BlockScaleGraph::forward({2, 4, 1024, 128}, is_causal);
        std::string const message = graph.build(Target::offline("b200")).get_message();
        if (runtime::cudnn_version() >= 92101) CHECK(message == "");
        else CHECK(message.find("cudnn.s59") != message.npos);
    }
}

TEST_CASE("block-scaled attention is refused with a limit elsewhere, of other sizes and in backward", "[offline]") {
    if (!has_cudnn()) return;
    for (char const* const device : {"a100", "h200", "l40s", "rtx5090"}) {
        CAPTURE(device);
        auto graph = BlockScaleGraph::forward({2, 4, 1024, 128}, false);
        std::string const message = graph.build(Target::offline(device)).get_message();
        CHECK(message.find(std::string(device) == "rtx5090" ? "cudnn.s75" : "cudnn.s59") != message.npos);
    }
    struct Row {
        graph::Graph graph;
        char const* limit;
    };
    Row rows[] = {{BlockScaleGraph::forward({2, 4, 1024, 192}, false), "cudnn.s61"},
                  {BlockScaleGraph::forward({2, 4, 1, 128}, false), "cudnn.s62"},
                  {BlockScaleGraph::backward({2, 4, 1024, 128}, false), "cudnn.s60"}};
    for (Row& row : rows) {
        CAPTURE(row.limit);
        std::string const message = row.graph.build(Target::offline("b200")).get_message();
        CHECK(message.find(row.limit) != message.npos);
    }
}
