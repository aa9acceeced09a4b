#include "graphs.h"

#include <limits>

using namespace test;
using namespace cudnn_frontend::nodes::attention;
using enum cudnn_frontend::error_code_t;

namespace {

void drop_by_probability(TestGraph& graph, float probability) {
    graph.attention_options().dropout_probability = probability;
    graph.connect(Seed, {1, 1, 1, 1}, DataType_t::INT64);
    graph.connect(Offset, {1, 1, 1, 1}, DataType_t::INT64);
}

void drop_by_mask(TestGraph& graph) {
    graph.connect(DropoutMask, {2, 4, 6, 8}, DataType_t::HALF);
    graph.connect(DropoutScale, {1, 1, 1, 1}, DataType_t::FLOAT);
    if (graph.nodes[0].kind() == NodeKind::SdpaBackward) {
        graph.connect(DropoutScaleInv, {1, 1, 1, 1}, DataType_t::FLOAT);
    }
}

}  // namespace

TEST_CASE("sdpa_fwd.c27 sdpa_bwd.c27: a probability outside its range") {
    struct Case {
        float probability;
        char const* name;
    };
    auto const& [probability, name] = GENERATE(Case{1.0f, "1"}, Case{1.5f, "1.5"}, Case{-0.25f, "-0.25"},
                                               Case{std::numeric_limits<float>::quiet_NaN(), "nan"},
                                               Case{std::numeric_limits<float>::infinity(), "inf"});
    float const value = probability;
    expect_in_attention("c27", [&](TestGraph& graph) { drop_by_probability(graph, value); },
                        {ATTRIBUTE_NOT_SET, "attention", "", std::string("the dropout probability ") + name,
                         "a probability of at least 0 and less than 1",
                         "call set_dropout() with the chance that a value is dropped, such as 0.1"});
}

TEST_CASE("sdpa_fwd.c28 sdpa_bwd.c28: dropout by a probability and by a mask") {
    auto const break_graph = [](TestGraph& graph) {
        drop_by_probability(graph, 0.25f);
        drop_by_mask(graph);
    };
    expect_in_attention("c28", break_graph,
                        {ATTRIBUTE_NOT_SET, "attention", "dropout_mask", "a dropout mask and the probability 0.25",
                         "dropout by a mask or by a probability, not both", "leave out one set_dropout()"});
}

TEST_CASE("sdpa_fwd.c29 sdpa_bwd.c29: a probability without an offset") {
    auto const break_graph = [](TestGraph& graph) {
        drop_by_probability(graph, 0.25f);
        graph.disconnect(Offset);
    };
    expect_in_attention(
        "c29", break_graph,
        {ATTRIBUTE_NOT_SET, "attention", "offset", "dropout with probability 0.25 and no offset",
         "a seed and an offset for the generator", "call set_dropout(probability, seed, offset) with both tensors"});
}

TEST_CASE("sdpa_fwd.c29 sdpa_bwd.c29: a seed without a probability") {
    expect_in_attention(
        "c29", [](TestGraph& graph) { graph.connect(Seed, {1}, DataType_t::INT64); },
        {ATTRIBUTE_NOT_SET, "attention", "seed", "seed without a dropout probability",
         "the probability that the generator is for", "call set_dropout(probability, seed, offset), or leave it out"});
}

TEST_CASE("sdpa_fwd.c29: probability 0 needs no seed and offset") {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    graph.attention_options().dropout_probability = 0.0f;
    expect_valid(graph);
}

TEST_CASE("sdpa_fwd.c30 sdpa_bwd.c30: a seed for each head") {
    auto const break_graph = [](TestGraph& graph) {
        drop_by_probability(graph, 0.25f);
        graph.resize(Seed, {1, 4, 1, 1});
    };
    expect_in_attention("c30", break_graph,
                        {INVALID_VALUE, "attention", "seed", "seed with dims [1, 4, 1, 1]", "one element, every dim 1",
                         "call set_dim({1, 1, 1, 1})"});
}

TEST_CASE("sdpa_fwd.c30 sdpa_bwd.c30: an offset of a floating-point type") {
    auto const break_graph = [](TestGraph& graph) {
        drop_by_probability(graph, 0.25f);
        graph.at(Offset).data_type = DataType_t::FLOAT;
    };
    expect_in_attention("c30", break_graph,
                        {INVALID_VALUE, "attention", "offset", "offset of type FLOAT", "type INT64 or INT32",
                         "call set_data_type(DataType_t::INT64)"});
}

TEST_CASE("sdpa_fwd.c31: a mask without its scale") {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    drop_by_mask(graph);
    graph.disconnect(DropoutScale);
    expect_finding(graph, "sdpa_fwd.c31",
                   {ATTRIBUTE_NOT_SET, "attention", "dropout_scale", "dropout by a mask without dropout_scale",
                    "the mask and its scale", "call set_dropout(mask, scale) with both tensors"});
}

TEST_CASE("sdpa_bwd.c31: a mask without the inverse of its scale") {
    TestGraph graph = attention_graph(NodeKind::SdpaBackward);
    drop_by_mask(graph);
    graph.disconnect(DropoutScaleInv);
    expect_finding(graph, "sdpa_bwd.c31",
                   {ATTRIBUTE_NOT_SET, "attention", "dropout_scale_inv", "dropout by a mask without dropout_scale_inv",
                    "the mask, its scale and the inverse of the scale",
                    "call set_dropout(mask, scale, scale_inverse) with all tensors"});
}

TEST_CASE("sdpa_fwd.c32 sdpa_bwd.c32: a mask that does not broadcast to the scores") {
    auto const break_graph = [](TestGraph& graph) {
        drop_by_mask(graph);
        graph.resize(DropoutMask, {2, 4, 8, 6});
    };
    expect_in_attention("c32", break_graph,
                        {INVALID_VALUE, "attention", "dropout_mask", "dropout_mask with dims [2, 4, 8, 6]",
                         "dims [2, 4, 6, 8], the scores' {B, Hq, Sq, Skv}, each of them or 1",
                         "set the dims that differ to 1 to share them, or to the scores' size"});
}

TEST_CASE("sdpa_fwd.c33 sdpa_bwd.c33: a boolean mask") {
    auto const break_graph = [](TestGraph& graph) {
        drop_by_mask(graph);
        graph.at(DropoutMask).data_type = DataType_t::BOOLEAN;
    };
    expect_in_attention("c33", break_graph,
                        {GRAPH_NOT_SUPPORTED, "attention", "dropout_mask", "dropout_mask of type BOOLEAN",
                         "type HALF, BFLOAT16 or FLOAT", "call set_data_type() with one of these"});
}

TEST_CASE("sdpa_fwd.c34 sdpa_bwd.c34: the scale of a mask in another type than FLOAT") {
    auto const break_graph = [](TestGraph& graph) {
        drop_by_mask(graph);
        graph.at(DropoutScale).data_type = DataType_t::HALF;
    };
    expect_in_attention("c34", break_graph,
                        {INVALID_VALUE, "attention", "dropout_scale", "dropout_scale of type HALF", "type FLOAT",
                         "call set_data_type(DataType_t::FLOAT)"});
}

TEST_CASE("sdpa_fwd.c35 sdpa_bwd.c35: a dump of a mask that is not generated") {
    expect_in_attention("c35",
                        [](TestGraph& graph) {
                            graph.connect(RngDump, {2, 4, 6, 8}, DataType_t::FLOAT);
                        },
                        {ATTRIBUTE_NOT_SET, "attention", "rng_dump",
                         "rng_dump without dropout by a probability above 0", "a generator whose mask is dumped",
                         "call set_dropout(probability, seed, offset), or leave out set_rng_dump()"});
}

TEST_CASE("sdpa_fwd.c36 sdpa_bwd.c36: a dump with other dims than the scores") {
    auto const break_graph = [](TestGraph& graph) {
        drop_by_probability(graph, 0.25f);
        graph.connect(RngDump, {1, 4, 6, 8}, DataType_t::FLOAT);
    };
    expect_in_attention("c36", break_graph,
                        {INVALID_VALUE, "attention", "rng_dump", "rng_dump with dims [1, 4, 6, 8]",
                         "dims [2, 4, 6, 8], {B, Hq, Sq, Skv} of Q and K",
                         "call set_dim() on rng_dump with these dims, or change what they follow from"});
}

TEST_CASE("sdpa_fwd.c37 sdpa_bwd.c37: a dump of another type than FLOAT") {
    auto const break_graph = [](TestGraph& graph) {
        drop_by_probability(graph, 0.25f);
        graph.connect(RngDump, {2, 4, 6, 8}, DataType_t::HALF);
    };
    expect_in_attention("c37", break_graph,
                        {GRAPH_NOT_SUPPORTED, "attention", "rng_dump", "rng_dump of type HALF", "type FLOAT",
                         "call set_data_type(DataType_t::FLOAT)"});
}

TEST_CASE("sdpa_fwd.c38 sdpa_bwd.c38: a dump that nobody sees") {
    auto const break_graph = [](TestGraph& graph) {
        drop_by_probability(graph, 0.25f);
        graph.connect(RngDump, {2, 4, 6, 8}, DataType_t::FLOAT).is_virtual = true;
    };
    expect_in_attention("c38", break_graph,
                        {ATTRIBUTE_NOT_SET, "attention", "rng_dump", "rng_dump as a virtual tensor that no node reads",
                         "an output, since it was asked for", "call set_output(true)"});
}

namespace {

void exchange_dropout(TestGraph& graph) {
    drop_by_mask(graph);
    std::swap(graph.nodes[0].ports[DropoutMask], graph.nodes[0].ports[DropoutScale]);
}

// The name of the mask after validation, and validation's remarks.
std::pair<std::string, std::string> mask_after_validation(TestGraph const& graph) {
    auto const validation = validate(graph);
    if (!validation.graph) return {validation.report.to_text(), ""};
    return {validation.graph->spec().tensor(validation.graph->spec().nodes[0], DropoutMask)->name,
            validation.graph->remarks()};
}

}  // namespace

TEST_CASE("a dropout mask and its scale in each other's place are exchanged, and the graph's remarks say so") {
    std::string const remark = ", node 'attention' has dropout's mask and scale swapped, which is accepted";
    std::initializer_list<void (*)(TestGraph&)> const changes = {
        [](TestGraph&) {},
        [](TestGraph& graph) { graph.at(DropoutScale).data_type = DataType_t::FLOAT; },  // of the mask
        [](TestGraph& graph) {
            graph.resize(DropoutScale, {1, 4, 1, 8});
        },
        [](TestGraph& graph) {
            graph.resize(DropoutScale, {1, 1, 1, 1});
        },  // one HALF
        [](TestGraph& graph) { graph.at(DropoutMask).is_by_value = true; },
    };
    for (NodeKind const kind : {NodeKind::SdpaForward, NodeKind::SdpaBackward}) {
        for (auto const change : changes) {
            TestGraph graph = attention_graph(kind);
            exchange_dropout(graph);
            change(graph);
            CHECK(mask_after_validation(graph) == std::pair(std::string("dropout_mask"), remark));
        }
        TestGraph in_order = attention_graph(kind);
        drop_by_mask(in_order);
        CHECK(mask_after_validation(in_order) == std::pair(std::string("dropout_mask"), std::string()));
    }
}

TEST_CASE("where mask and scale are one FLOAT each, either may be either") {
    TestGraph graph = attention_graph(NodeKind::SdpaForward);
    drop_by_mask(graph);
    graph.resize(DropoutMask, {1, 1, 1, 1});
    graph.at(DropoutMask).data_type = DataType_t::FLOAT;
    CHECK(mask_after_validation(graph) == std::pair(std::string("dropout_mask"), std::string()));
}

TEST_CASE("sdpa_fwd.c34 sdpa_bwd.c34: what fits neither place stays where it is") {
    auto const break_graph = [](TestGraph& graph) {
        exchange_dropout(graph);
        graph.resize(DropoutScale, {2, 4, 8, 6});
        graph.at(DropoutScale).data_type = DataType_t::FLOAT;
    };
    expect_in_attention("c34", break_graph,
                        {INVALID_VALUE, "attention", "dropout_mask", "dropout_scale with dims [2, 4, 8, 6]",
                         "one element, every dim 1", "call set_dim({1, 1, 1, 1})"});
}
