// Limits of cuDNN: graphs that violate each, and graphs that do not, by version and architecture.
#include "cudnn/quirks/support.h"
#include "nodes/schema/schema.h"

#include "support/catch.h"
#include "unit/cudnn/quirks/limit_graphs.h"

using test::AttentionGraph;
using test::with_head_dims;
using test::with_modifier;
namespace nodes = cudnn_frontend::nodes;
namespace quirks = cudnn_frontend::quirks;
using cudnn_frontend::AttentionImplementation_t;
using cudnn_frontend::DataType_t;
using cudnn_frontend::DiagonalAlignment_t;
using cudnn_frontend::PointwiseMode_t;
using Port = cudnn_frontend::nodes::attention::Port;

namespace {

constexpr quirks::Capabilities kHopper{.cudnn_version = 91900, .sm = 90};
constexpr auto kTopLeft = DiagonalAlignment_t::TOP_LEFT, kBottomRight = DiagonalAlignment_t::BOTTOM_RIGHT;

std::string ids(AttentionGraph const& graph, quirks::Capabilities const& here = kHopper) {
    return test::limit_ids(graph, here);
}

quirks::Capabilities version(std::size_t number) { return {.cudnn_version = number, .sm = 90}; }

// The heads that Hopper's 8-bit backward supports, and a number of queries.
AttentionGraph fp8_backward(AttentionGraph graph, std::int64_t qk = 128, std::int64_t v = 128) {
    graph.fp8();
    resize(graph, {Port::Q, Port::O, Port::DO, Port::DQ, Port::Stats}, 2, 16);
    return with_head_dims(std::move(graph), qk, v);
}

AttentionGraph forward_with_head_dim(std::int64_t qk) {
    auto graph = AttentionGraph::forward();
    resize(graph, {Port::Q, Port::K}, 3, qk);
    return graph;
}

AttentionGraph unified() { return AttentionGraph::forward().implementation(AttentionImplementation_t::UNIFIED); }

}  // namespace

TEST_CASE("cudnn.s84: dynamic shapes", "[support]") {
    auto const dynamic_ids = [](AttentionGraph const& graph, std::size_t version) {
        return test::limit_ids(graph, {.cudnn_version = version, .sm = 90}, {.dynamic_shapes = true});
    };
    CHECK(dynamic_ids(AttentionGraph::forward(), 91799) == "cudnn.s84");
    CHECK(dynamic_ids(AttentionGraph::forward(), 91800) == "");
    CHECK(dynamic_ids(AttentionGraph::forward(), 92099) == "");
    CHECK(dynamic_ids(AttentionGraph::forward(), 92100) == "cudnn.s84");
    CHECK(dynamic_ids(AttentionGraph::backward(), 91900) == "cudnn.s84");
    CHECK(dynamic_ids(unified(), 91900) == "cudnn.s84");
    auto unfused = AttentionGraph::forward();
    unfused.unfuse_multiplication();
    CHECK(dynamic_ids(unfused, 91900) == "cudnn.s71 cudnn.s84");
    CHECK(ids(AttentionGraph::backward()) == "");
    CHECK(ids(unified()) == "");
}

TEST_CASE("cudnn.s82: several attention nodes", "[support]") {
    AttentionGraph graph = AttentionGraph::forward();
    AttentionGraph second = AttentionGraph::forward();
    nodes::Node node = second.node();
    for (nodes::TensorId& port : node.ports) {
        if (port != nodes::kNoTensor) port += static_cast<nodes::TensorId>(graph.spec.tensors.size());
    }
    node.name = "second";
    for (nodes::TensorSpec tensor : second.spec.tensors) {
        *tensor.uid += 1000;
        graph.spec.tensors.push_back(std::move(tensor));
    }
    graph.spec.nodes.push_back(std::move(node));
    auto const findings = quirks::check(test::validated(graph.spec), kHopper).findings();
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].where.rule == "cudnn.s82");
    CHECK(findings[0].where.node == "second");
    CHECK(findings[0].found == "an attention node next to 'sdpa' on compute capability 9.0 with cuDNN 9.19.0");
}

TEST_CASE("graphs within all limits have no findings", "[support]") {
    CHECK(ids(AttentionGraph::forward()) == "");
    CHECK(ids(AttentionGraph::backward()) == "");
    CHECK(ids(unified()) == "");
}

TEST_CASE("a finding says what was found, what is needed, where, and what to try", "[support]") {
    auto const report = quirks::check(test::validated(forward_with_head_dim(12).spec), kHopper);
    CHECK(report.to_text() ==
          "[cudnn.s04] node 'sdpa', tensors 'Q', 'K': found a head dim of 12, where 16 is the next, on compute "
          "capability 9.0 with cuDNN 9.19.0; expected head dims that are multiples of 8. Try: round the head dim up, "
          "with zeros in "
          "the added columns of Q, K, V and dO, and keep "
          "attn_scale as it is; or use Target::cpu(). This limit holds in every release of cuDNN, on every GPU: "
          "docs/cudnn-quirks.md.\n");
}

TEST_CASE("a finding names every tensor at fault, with what each was found to have", "[support]") {
    auto const graph = with_head_dims(AttentionGraph::backward(), 264, 320);
    auto const findings = quirks::check(test::validated(graph.spec), kHopper).findings();
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].where.rule == "cudnn.s05");
    CHECK(findings[0].where.tensor == "Q");
    CHECK(findings[0].others == std::vector<std::string>{"K", "V"});
    CHECK(findings[0].found == "a head dim of 264 and a head dim of 320 on compute capability 9.0 with cuDNN 9.19.0");
    CHECK(findings[0].needed == "head dims up to 256 in backward");
}

TEST_CASE("a finding names a tensor of several ports once", "[support]") {
    AttentionGraph shared = forward_with_head_dim(12);
    shared.node().ports[Port::K] = shared.node().ports[Port::Q];
    resize(shared, {Port::V}, 2, 6);
    auto const findings = quirks::check(test::validated(shared.spec), kHopper).findings();
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].where.tensor == "Q");
    CHECK(findings[0].others.empty());
}

TEST_CASE("a finding names a node without a name as rules do, by its position in the user's order", "[support]") {
    AttentionGraph graph = forward_with_head_dim(12);
    graph.node().name.clear();
    auto const node_of_finding = [](AttentionGraph const& of) {
        return quirks::check(test::validated(of.spec), kHopper).findings().front().where.node;
    };
    CHECK(node_of_finding(graph) == "SDPA_FORWARD 0");
    // A node in front of it, that runs after it.
    nodes::Node after = nodes::make_node(nodes::NodeKind::Pointwise);
    std::get<nodes::PointwiseFields>(after.fields).mode = PointwiseMode_t::IDENTITY;
    after.compute_data_type = DataType_t::FLOAT;
    after.ports[nodes::pointwise::In0] = graph.node().ports[Port::O];
    after.ports[nodes::pointwise::Out0] = graph.add_tensor("copy", DataType_t::HALF, {2, 4, 6, 16});
    graph.spec.nodes.insert(graph.spec.nodes.begin(), after);
    CHECK(node_of_finding(graph) == "SDPA_FORWARD 1");
}

TEST_CASE("cudnn.s01 and s02: architecture and releases", "[support]") {
    CHECK(ids(AttentionGraph::forward(), {.cudnn_version = 91900, .sm = 75}) == "cudnn.s01");
    CHECK(ids(AttentionGraph::forward(), {.cudnn_version = 91900, .sm = 80}) == "");
    CHECK(ids(AttentionGraph::forward(), version(91000)) == "cudnn.s02");
    CHECK(ids(AttentionGraph::forward(), version(91001)) == "cudnn.s02");
    CHECK(ids(AttentionGraph::forward(), version(91002)) == "");
}

TEST_CASE("cudnn.s05 and s08: head dims of backward", "[support]") {
    CHECK(ids(with_head_dims(AttentionGraph::backward(), 256, 256)) == "");
    CHECK(ids(with_head_dims(AttentionGraph::backward(), 264, 64)) == "cudnn.s05");
    CHECK(ids(with_head_dims(AttentionGraph::backward(), 136, 64), {.cudnn_version = 91900, .sm = 80}) == "cudnn.s05");
    constexpr quirks::Capabilities kDatacenter{.cudnn_version = 91900, .sm = 100};
    CHECK(ids(with_head_dims(AttentionGraph::backward(), 128, 128), kDatacenter) == "");
    CHECK(ids(with_head_dims(AttentionGraph::backward(), 192, 128), kDatacenter) == "");
    CHECK(ids(with_head_dims(AttentionGraph::backward(), 192, 192), kDatacenter) == "cudnn.s05");
    CHECK(ids(with_head_dims(AttentionGraph::backward(), 160, 128), version(91200)) == "cudnn.s08");
    CHECK(ids(with_head_dims(AttentionGraph::backward(), 192, 128), version(91200)) == "");
    CHECK(ids(with_head_dims(AttentionGraph::backward(), 160, 128), version(91300)) == "");
}

TEST_CASE("cudnn.s07: a window of 9.14.0", "[support]") {
    auto graph = AttentionGraph::forward().band(kTopLeft, 3, std::nullopt);
    resize(graph, {Port::K, Port::V}, 2, 1032);
    CHECK(ids(graph, version(91400)) == "cudnn.s07");
    CHECK(ids(graph, version(91401)) == "");
    graph.band(kTopLeft, 3, 0);
    CHECK(ids(graph, version(91400)) == "");
}

TEST_CASE("cudnn.s09 to s11: the unified operation", "[support]") {
    CHECK(ids(unified(), version(91300)) == "cudnn.s09");
    CHECK(ids(unified(), version(91301)) == "");
    CHECK(ids(unified().padding(), version(91400)) == "cudnn.s10");
    CHECK(ids(unified().padding(), version(91500)) == "");
    CHECK(ids(unified().band(kTopLeft, std::nullopt, 0)) == "cudnn.s11");
    CHECK(ids(unified().bias({2, 4, 6, 5})) == "cudnn.s11");
    CHECK(ids(unified().dropout(0.5f)) == "cudnn.s11");
}

TEST_CASE("cudnn.s92: Stats in base 2", "[support]") {
    auto forward = AttentionGraph::forward().stats();
    auto inference = AttentionGraph::forward(), backward = AttentionGraph::backward();
    for (AttentionGraph* const graph : {&forward, &inference, &backward}) graph->fields().stats_use_log2 = true;
    CHECK(ids(forward) == "cudnn.s92");
    CHECK(ids(forward.implementation(AttentionImplementation_t::UNIFIED)) == "cudnn.s92");
    CHECK(ids(inference) == "");
    CHECK(ids(backward) == "cudnn.s92");
}

TEST_CASE("cudnn.s94: attention scales of 0 and below", "[support]") {
    for (AttentionGraph graph : {AttentionGraph::forward(), AttentionGraph::backward()}) {
        CHECK(ids(graph.scale(0.1f)) == "");
        CHECK(ids(graph.scale(0.0f)) == "cudnn.s94");
        CHECK(ids(graph.scale(-0.1f)) == "cudnn.s94");
    }
    auto graph = AttentionGraph::forward();
    graph.connect(Port::AttnScale, DataType_t::FLOAT, {1, 1, 1, 1});
    CHECK(ids(graph) == "");  // only each run knows it
    graph.tensor(Port::AttnScale).value = cudnn_frontend::detail::make_scalar(-0.5f);
    CHECK(ids(graph) == "cudnn.s94");
    graph.tensor(Port::AttnScale).value = cudnn_frontend::detail::make_scalar(0.5f);
    CHECK(ids(graph) == "");
}

TEST_CASE("cudnn.s12 and s17: dBias", "[support]") {
    CHECK(ids(AttentionGraph::backward().bias({1, 4, 6, 5}).bias_gradient()) == "");
    CHECK(ids(AttentionGraph::backward().bias({2, 4, 1, 5}).bias_gradient()) == "cudnn.s12");
    CHECK(ids(AttentionGraph::backward().bias({2, 4, 6, 1}).bias_gradient()) == "cudnn.s12");
    CHECK(ids(AttentionGraph::backward().bias({2, 4, 1, 5}).connect(Port::DBias, DataType_t::HALF, {1, 1, 6, 5})) ==
          "");
    CHECK(ids(AttentionGraph::backward().bias({2, 4, 6, 5}).connect(Port::DBias, DataType_t::HALF, {2, 4, 1, 5})) ==
          "cudnn.s12");
    auto graph = AttentionGraph::backward().bias({1, 4, 6, 5}).bias_gradient();
    graph.connect(Port::AttnScale, DataType_t::FLOAT, {1, 1, 1, 1});
    CHECK(ids(graph) == "cudnn.s17");
    graph.tensor(Port::AttnScale).is_by_value = true;
    CHECK(ids(graph) == "");
}

TEST_CASE("cudnn.s18 and s19: what single elements and padded windows do", "[support]") {
    auto one_score = AttentionGraph::backward();
    resize(one_score, {Port::Q, Port::O, Port::DO, Port::Stats, Port::DQ, Port::K, Port::V, Port::DK, Port::DV}, 2, 1);
    CHECK(ids(one_score, version(91800)) == "cudnn.s18");
    CHECK(ids(one_score) == "");
    auto const window = AttentionGraph::backward().padding().band(kBottomRight, 3, std::nullopt);
    CHECK(ids(window, version(91400)) == "cudnn.s19");
    CHECK(ids(window, version(91500)) == "");
}

TEST_CASE("cudnn.s20: a bias of one column in backward", "[support]") {
    auto const graph = AttentionGraph::backward().bias({2, 4, 6, 1});
    CHECK(ids(graph) == "");
    CHECK(ids(graph, {.cudnn_version = 91900, .sm = 89}) == "cudnn.s20");
    CHECK(ids(graph, {.cudnn_version = 91900, .sm = 120}) == "cudnn.s20");
    CHECK(ids(AttentionGraph::backward().bias({2, 4, 6, 5}), {.cudnn_version = 91900, .sm = 89}) == "");
    CHECK(ids(AttentionGraph::backward().bias({1, 4, 1, 1}), {.cudnn_version = 91900, .sm = 89}) == "");
    CHECK(ids(AttentionGraph::forward().bias({2, 4, 6, 1}), {.cudnn_version = 91900, .sm = 89}) == "");
}

namespace {

AttentionGraph with_sink(AttentionGraph graph) {
    return graph.connect(Port::SinkToken, DataType_t::FLOAT, {1, 4, 1, 1});
}

AttentionGraph with(AttentionGraph graph, std::initializer_list<int> outputs) {
    for (int const port : outputs) graph.connect(port, DataType_t::FLOAT, {2, 4, 6, 1});
    return graph;
}

}  // namespace

TEST_CASE("cudnn.s29: a sink token", "[support]") {
    CHECK(ids(with_sink(AttentionGraph::forward()), version(91201)) == "cudnn.s29");
    CHECK(ids(with_sink(AttentionGraph::backward()), version(91201)) == "cudnn.s29");
    CHECK(ids(with_sink(AttentionGraph::forward()), version(91300)) == "");
    CHECK(ids(with_sink(AttentionGraph::backward())) == "");
    CHECK(ids(with_sink(AttentionGraph::forward().implementation(AttentionImplementation_t::UNIFIED))) == "cudnn.s11");
}

TEST_CASE("cudnn.s30 and s31: Max and Sum_exp beside Stats or a sink", "[support]") {
    auto const forward = [] { return AttentionGraph::forward(); };
    for (auto const& ports : {std::initializer_list<int>{Port::Max}, {Port::SumExp}, {Port::Max, Port::SumExp}}) {
        CHECK(ids(with(forward(), ports)) == "");
        CHECK(ids(with(forward().stats(), ports)) == "cudnn.s30");
        CHECK(ids(with(forward().stats(), ports), version(92000)) == "");
        CHECK(ids(with(with_sink(forward()), ports)) == "cudnn.s31");
        CHECK(ids(with(with_sink(forward().stats()), ports)) == "cudnn.s30 cudnn.s31");
        CHECK(ids(with(with_sink(forward()), ports), version(92800)) == "cudnn.s31");
        CHECK(ids(with(unified(), ports)) == "cudnn.s11");
    }
}

TEST_CASE("cudnn.s27: a bias and a dropout mask of one key", "[support]") {
    auto graph = AttentionGraph::backward();
    resize(graph, {Port::K, Port::V, Port::DK, Port::DV}, 2, 1);
    auto with_bias = graph;
    graph.dropout_mask();
    CHECK(ids(graph) == "");
    CHECK(ids(graph, {.cudnn_version = 91900, .sm = 89}) == "cudnn.s27");
    CHECK(ids(graph.bias({2, 4, 6, 1})) == "cudnn.s27");
    CHECK(ids(graph, {.cudnn_version = 92000, .sm = 100}) == "cudnn.s27");
    CHECK(ids(graph, {.cudnn_version = 92101, .sm = 100}) == "");
    CHECK(ids(with_bias.bias({1, 1, 6, 1})) == "");
    CHECK(ids(with_bias, {.cudnn_version = 91900, .sm = 89}) == "cudnn.s27");
}

TEST_CASE("cudnn.s27: numbers for heads alone are no column", "[support]") {
    auto graph = AttentionGraph::backward();
    resize(graph, {Port::K, Port::V, Port::DK, Port::DV}, 2, 1);
    CHECK(ids(graph.bias({1, 1, 1, 1})) == "");
    CHECK(ids(graph, {.cudnn_version = 91900, .sm = 89}) == "");
    CHECK(ids(graph.bias({1, 1, 6, 1}), {.cudnn_version = 91900, .sm = 89}) == "cudnn.s27");
    resize(graph, {Port::Q, Port::O, Port::DO, Port::DQ, Port::Stats}, 2, 1);
    CHECK(ids(graph.bias({1, 1, 1, 1}), {.cudnn_version = 91900, .sm = 89}) == "");
    auto by_head = graph, by_batch = graph;
    CHECK(ids(by_head.bias({1, 4, 1, 1}), {.cudnn_version = 91900, .sm = 89}) == "");
    CHECK(ids(by_batch.bias({2, 1, 1, 1}), {.cudnn_version = 91900, .sm = 89}) == "cudnn.s27");
}

TEST_CASE("cudnn.s32 and s33: gradients of modifiers, and columns that modifiers read", "[support]") {
    using enum cudnn_frontend::PointwiseMode_t;
    auto const on = [](int sm) { return quirks::Capabilities{.cudnn_version = 91900, .sm = sm}; };
    auto activated = with_modifier(TANH_BWD, {1, 4, 1, 1});
    CHECK(ids(activated) == "");
    CHECK(ids(activated, on(89)) == "cudnn.s32");
    CHECK(ids(activated, on(100)) == "");
    CHECK(ids(activated.deterministic(), on(100)) == "cudnn.s32");
    CHECK(ids(activated) == "");
    CHECK(ids(with_modifier(MUL, {1, 4, 1, 1}), on(89)) == "");
    CHECK(ids(with_modifier(MUL, {2, 1, 6, 1})) == "");
    CHECK(ids(with_modifier(MUL, {2, 1, 6, 1}), on(89)) == "cudnn.s33");
    CHECK(ids(with_modifier(MUL, {2, 1, 1, 1}), on(120)) == "cudnn.s33");
}

TEST_CASE("cudnn.s34: dBias beside the gradient of a modifier", "[support]") {
    auto graph = with_modifier(cudnn_frontend::PointwiseMode_t::MUL, {1, 4, 1, 1});
    graph.bias({2, 4, 6, 5});
    CHECK(ids(graph) == "");
    CHECK(ids(graph.bias_gradient()) == "cudnn.s34");
}

TEST_CASE("cudnn.s97: a modifier that reads BOOLEAN from memory", "[support]") {
    auto graph = with_modifier({1, 1, 6, 5});
    CHECK(ids(graph) == "");
    auto const other = std::ranges::find(graph.spec.tensors, "other", &nodes::TensorSpec::name);
    REQUIRE(other != graph.spec.tensors.end());
    other->data_type = DataType_t::BOOLEAN;
    CHECK(ids(graph) == "cudnn.s97");
    other->data_type = DataType_t::INT32;
    CHECK(ids(graph) == "");
}

TEST_CASE("cudnn.s35: pages of different sizes", "[support]") {
    CHECK(ids(AttentionGraph::forward().padding().pages(2, 2)) == "");
    CHECK(ids(AttentionGraph::forward().padding().pages(2, 4)) == "cudnn.s35");
}

TEST_CASE("cudnn.s55 to s58: block masks", "[support]") {
    constexpr quirks::Capabilities kBlackwell{.cudnn_version = 91900, .sm = 100};
    auto const masked = [](AttentionGraph graph) {
        graph.connect(Port::BlockMask, DataType_t::UINT8, {2, 4, 1, 1});
        return graph;
    };
    AttentionGraph const plain = masked(AttentionGraph::forward());
    CHECK(ids(plain) == "cudnn.s55");
    CHECK(ids(plain, {.cudnn_version = 91900, .sm = 120}) == "cudnn.s55");
    CHECK(ids(plain, kBlackwell) == "");
    CHECK(ids(plain, {.cudnn_version = 91301, .sm = 100}) == "cudnn.s55");
    CHECK(ids(masked(AttentionGraph::forward().padding()), {.cudnn_version = 91400, .sm = 100}) == "cudnn.s55");
    CHECK(ids(masked(AttentionGraph::forward().padding()), kBlackwell) == "");
    CHECK(ids(masked(AttentionGraph::forward().band(kTopLeft, std::nullopt, 0)), kBlackwell) == "cudnn.s56");
    CHECK(ids(masked(AttentionGraph::forward().bias({2, 4, 6, 5})), kBlackwell) == "cudnn.s56");
    CHECK(ids(masked(unified()), kBlackwell) == "");
    CHECK(ids(masked(AttentionGraph::forward().implementation(AttentionImplementation_t::COMPOSITE)), kBlackwell) ==
          "cudnn.s57");
    AttentionGraph one_query = plain;
    resize(one_query, {Port::Q, Port::O}, 2, 1);
    CHECK(ids(one_query, kBlackwell) == "cudnn.s58");
}

TEST_CASE("cudnn.s37: types of sinks", "[support]") {
    auto graph = with_sink(AttentionGraph::forward());
    graph.tensor(Port::SinkToken).data_type = DataType_t::HALF;
    CHECK(ids(graph) == "cudnn.s37");
}

TEST_CASE("cudnn.w26: gradients of sinks that engines get wrong are refused nowhere", "[support]") {
    auto const gradient = [](AttentionGraph of) {
        return with_sink(std::move(of)).connect(Port::DSinkToken, DataType_t::FLOAT, {1, 4, 1, 1});
    };
    CHECK(ids(gradient(AttentionGraph::backward())) == "");
    CHECK(ids(gradient(AttentionGraph::backward().deterministic())) == "");
    CHECK(ids(gradient(AttentionGraph::backward().dropout(0.5f))) == "");
    auto ragged = gradient(AttentionGraph::backward().padding());
    pack_rows(ragged, {Port::Q, Port::K, Port::V, Port::O, Port::DO, Port::DQ, Port::DK, Port::DV});
    CHECK(ids(ragged) == "");
}

TEST_CASE("cudnn.s40 to s48: FP8 attention", "[support]") {
    auto const on = [](int sm) { return quirks::Capabilities{.cudnn_version = 91900, .sm = sm}; };
    auto const forward = [&](std::int64_t qk = 128, std::int64_t v = 128) {
        AttentionGraph graph = AttentionGraph::forward().fp8();
        resize(graph, {Port::Q, Port::K}, 3, qk);
        resize(graph, {Port::V, Port::O}, 3, v);
        return graph;
    };
    auto const backward = [&](std::int64_t qk = 128, std::int64_t v = 128) {
        return fp8_backward(AttentionGraph::backward(), qk, v);
    };
    for (int const sm : {90, 100, 103}) {
        CHECK(ids(forward(), on(sm)) == "");
        CHECK(ids(backward(), on(sm)) == "");
    }
    CHECK(ids(forward(), on(120)) == "");
    CHECK(ids(forward(), {.cudnn_version = 91400, .sm = 120}) == "cudnn.s40");
    CHECK(ids(backward(), on(120)) == "cudnn.s40");
    CHECK(ids(forward(), on(89)) == "cudnn.s40");

    CHECK(ids(forward(256, 160)) == "");
    CHECK(ids(forward(272, 128)) == "cudnn.s41");
    CHECK(ids(forward(20, 20)).find("cudnn.s04") == std::string::npos);  // multiples of 8 would not do
    CHECK(ids(forward(144, 128), on(120)) == "cudnn.s41");
    CHECK(ids(backward(64, 64)) == "cudnn.s41");
    CHECK(ids(backward(64, 64), on(100)) == "");
    CHECK(ids(backward(192, 128), on(100)) == "cudnn.s41");
    auto wide = forward();
    wide.tensor(Port::O).data_type = DataType_t::HALF;
    CHECK(ids(wide) == "cudnn.s42");
    CHECK(ids(wide, on(100)) == "");
    auto wide_gradient = backward();
    wide_gradient.tensor(Port::O).data_type = DataType_t::BFLOAT16;
    CHECK(ids(wide_gradient) == "cudnn.s67");
    CHECK(ids(wide_gradient, on(100)) == "");
    wide_gradient.tensor(Port::DK).data_type = DataType_t::BFLOAT16;
    CHECK(ids(wide_gradient) == "cudnn.s42 cudnn.s67");
    CHECK(ids(wide_gradient, on(100)) == "");

    CHECK(ids(with_sink(forward())) == "cudnn.s43");
    CHECK(ids(with_sink(forward()), on(100)) == "");
    CHECK(ids(with_sink(backward())) == "");
    auto const with_gradient = with_sink(backward()).connect(Port::DSinkToken, DataType_t::FLOAT, {1, 4, 1, 1});
    CHECK(ids(with_gradient) == "cudnn.s43");
    CHECK(ids(with_gradient, on(100)) == "");
    auto single = forward();
    resize(single, {Port::Q, Port::O}, 2, 1);
    CHECK(ids(single) == "cudnn.s44");
    CHECK(ids(single, on(120)) == "cudnn.s44");
    CHECK(ids(single, on(100)) == "");
    auto single_of_256 = forward(256, 256);
    CHECK(ids(single_of_256, on(100)) == "");
    resize(single_of_256, {Port::Q, Port::O}, 2, 1);
    CHECK(ids(single_of_256, on(100)) == "cudnn.s41");
    CHECK(ids(forward().dropout(0.5f), on(100)) == "");
    CHECK(ids(forward().dropout(0.5f), on(120)) == "cudnn.s45");
    CHECK(ids(backward().deterministic()) == "cudnn.s48");
}

TEST_CASE("cudnn.s46: gradients of modifiers in FP8 attention", "[support]") {
    auto graph = with_head_dims(std::move(with_modifier(cudnn_frontend::PointwiseMode_t::TANH_BWD, {1, 4, 1, 1}).fp8()),
                                128, 128);
    CHECK(ids(graph) == "cudnn.s49 cudnn.s63");
    CHECK(ids(graph, {.cudnn_version = 91900, .sm = 100}) == "cudnn.s46");
}

TEST_CASE("cudnn.s52: pages in FP8 attention", "[support]") {
    auto graph = AttentionGraph::forward().padding().pages(2, 2).fp8();
    resize(graph, {Port::Q, Port::K, Port::V, Port::O}, 3, 128);
    CHECK(ids(graph) == "");
    CHECK(ids(graph, {.cudnn_version = 91400, .sm = 90}) == "cudnn.s52");
    CHECK(ids(graph, {.cudnn_version = 91400, .sm = 100}) == "");
}

TEST_CASE("cudnn.s49 to s51: what FP8 kernels of 9.0 ignore, get wrong, and read elsewhere", "[support]") {
    constexpr quirks::Capabilities kBlackwell{.cudnn_version = 91900, .sm = 100};
    auto const forward = [] {
        AttentionGraph graph = AttentionGraph::forward().fp8();
        resize(graph, {Port::Q, Port::K, Port::V, Port::O}, 3, 128);
        return graph;
    };
    auto const backward = [] { return fp8_backward(AttentionGraph::backward()); };
    for (AttentionGraph const& graph : {forward().bias({1, 4, 6, 5}), forward().dropout(0.5f)}) {
        CHECK(ids(graph) == "cudnn.s49");
        CHECK(ids(graph, kBlackwell) == "");
    }
    CHECK(ids(backward().bias({1, 4, 16, 5})) == "");
    CHECK(ids(backward().dropout(0.5f)) == "cudnn.s49");

    auto extremes = with(forward(), {Port::Max, Port::SumExp});
    CHECK(ids(extremes) == "cudnn.s50");
    CHECK(ids(extremes, kBlackwell) == "");

    auto by_value = backward();
    by_value.tensor(Port::DescaleQ).is_by_value = true;
    CHECK(ids(by_value) == "cudnn.s51");
    CHECK(ids(by_value, kBlackwell) == "");
    auto forward_by_value = forward();
    forward_by_value.tensor(Port::DescaleQ).is_by_value = true;
    CHECK(ids(forward_by_value) == "");
}

TEST_CASE("cudnn.s47: ragged FP8 attention", "[support]") {
    constexpr quirks::Capabilities kBlackwell{.cudnn_version = 91900, .sm = 100};
    auto backward = fp8_backward(AttentionGraph::backward().padding());
    pack_rows(backward, {Port::Q, Port::K, Port::V, Port::O, Port::DO, Port::DQ, Port::DK, Port::DV});
    CHECK(ids(backward) == "cudnn.s47");
    CHECK(ids(backward, kBlackwell) == "");
    auto forward = AttentionGraph::forward().padding().fp8();
    resize(forward, {Port::Q, Port::K, Port::V, Port::O}, 3, 128);
    pack_rows(forward, {Port::Q, Port::K, Port::V, Port::O});
    CHECK(ids(forward) == "cudnn.s47");
    CHECK(ids(forward, kBlackwell) == "");
}

TEST_CASE("cudnn.s63 and s64: queries and heads of FP8 backward", "[support]") {
    constexpr quirks::Capabilities kBlackwell{.cudnn_version = 91900, .sm = 100};
    auto const backward = [](std::int64_t queries) {
        auto graph = fp8_backward(AttentionGraph::backward());
        resize(graph, {Port::Q, Port::O, Port::DO, Port::DQ, Port::Stats}, 2, queries);
        return graph;
    };
    for (std::int64_t const queries : {16, 80, 272}) CHECK(ids(backward(queries)) == "");
    for (std::int64_t const queries : {6, 24, 67, 257}) {
        CHECK(ids(backward(queries)) == "cudnn.s63");
        CHECK(ids(backward(queries), kBlackwell) == "");
    }
    auto const with_heads = [&](std::int64_t of_keys, std::int64_t of_values) {
        auto graph = backward(16);
        resize(graph, {Port::K, Port::DK}, 1, of_keys);
        resize(graph, {Port::V, Port::DV}, 1, of_values);
        return graph;
    };
    CHECK(ids(with_heads(2, 1)) == "");
    CHECK(ids(with_heads(2, 2)) == "");
    CHECK(ids(with_heads(2, 4)) == "cudnn.s64");
    CHECK(ids(with_heads(4, 2)) == "cudnn.s64");
    CHECK(ids(with_heads(4, 2), kBlackwell) == "cudnn.s64");
}

TEST_CASE("cudnn.s65: a left bound from the bottom right corner beside lengths in FP8 attention", "[support]") {
    auto const forward = [](DiagonalAlignment_t corner, std::optional<std::int64_t> left) {
        AttentionGraph graph = AttentionGraph::forward().padding().band(corner, left, 0).fp8();
        resize(graph, {Port::Q, Port::K, Port::V, Port::O}, 3, 128);
        return graph;
    };
    CHECK(ids(forward(kBottomRight, 3)) == "cudnn.s65");
    CHECK(ids(forward(kBottomRight, 3), {.cudnn_version = 91900, .sm = 100}) == "");
    CHECK(ids(forward(kBottomRight, std::nullopt)) == "");
    CHECK(ids(forward(kTopLeft, 3)) == "");
    CHECK(ids(fp8_backward(AttentionGraph::backward().padding().band(kBottomRight, 3, 0))) == "");
}

TEST_CASE("cudnn.s59 to s62 and s75: block scales", "[support]") {
    auto const on = [](int sm, std::size_t version) {
        return quirks::Capabilities{.cudnn_version = version, .sm = sm};
    };
    auto const forward = [](std::int64_t qk, std::int64_t v) {
        AttentionGraph graph = AttentionGraph::forward();
        resize(graph, {Port::Q, Port::K}, 3, qk);
        resize(graph, {Port::V, Port::O}, 3, v);
        return graph.block_scaled();
    };
    CHECK(ids(forward(128, 64), on(100, 92101)) == "");
    CHECK(ids(forward(128, 64), on(103, 92800)) == "");
    CHECK(ids(forward(128, 64), on(100, 91900)) == "cudnn.s59");
    CHECK(ids(forward(128, 64), on(90, 92800)).find("cudnn.s59") != std::string::npos);
    CHECK(ids(forward(128, 64), on(120, 92800)).find("cudnn.s75") != std::string::npos);
    CHECK(ids(forward(144, 64), on(100, 92800)) == "cudnn.s61");
    CHECK(ids(forward(128, 160), on(100, 92800)) == "cudnn.s61");
    AttentionGraph one = AttentionGraph::forward();
    resize(one, {Port::Q, Port::K, Port::V, Port::O}, 3, 64);
    resize(one, {Port::Q, Port::O}, 2, 1);
    CHECK(ids(one.block_scaled(), on(100, 92800)) == "cudnn.s62");
    auto backward = with_head_dims(AttentionGraph::backward(), 128, 128).block_scaled();
    CHECK(ids(backward, on(100, 92800)) == "cudnn.s60");
}
