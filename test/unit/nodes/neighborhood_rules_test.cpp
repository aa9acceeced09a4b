// The rules of neighborhood attention, and the inference of its results.
#include "graphs.h"

#include <limits>

using namespace test;
using namespace cudnn_frontend::nodes::neighborhood;
using enum error_code_t;

namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

constexpr NodeKind kForward = NodeKind::NeighborhoodForward, kBackward = NodeKind::NeighborhoodBackward,
                   kQk = NodeKind::NeighborhoodQk, kQkBackward = NodeKind::NeighborhoodQkBackward,
                   kAv = NodeKind::NeighborhoodAv, kAvBackward = NodeKind::NeighborhoodAvBackward;
constexpr NodeKind kAll[] = {kForward, kBackward, kQk, kQkBackward, kAv, kAvBackward};

NeighborhoodFields& options(TestGraph& graph) {
    return const_cast<NeighborhoodFields&>(*neighborhood_fields(graph.nodes[0]));
}

bool has_queries(NodeKind kind) { return kind != kAv && kind != kAvBackward; }
bool is_fused(NodeKind kind) { return kind == kForward || kind == kBackward; }

TestGraph with_bias(NodeKind kind) {
    TestGraph graph = neighborhood_graph(kind);
    if (kind != kQkBackward) graph.connect(RelPosBias, {3, 5, 9}, DataType_t::HALF);
    if (kind == kBackward || kind == kQkBackward) graph.connect_output(DRelPosBias);
    return graph;
}

TensorSpec inferred(TestGraph const& graph, int port) {
    Validation const validation = validate(graph);
    INFO(validation.report);
    REQUIRE(validation.graph.has_value());
    GraphSpec const& spec = validation.graph->spec();
    return *spec.tensor(spec.nodes[0], port);
}

// Breaks a graph of each kind in the same way.
template <class Break>
void expect_in_all(std::string const& rule, Break const& break_graph, Expected const& expected) {
    for (NodeKind const kind : kAll) {
        CAPTURE(static_cast<int>(kind));
        TestGraph graph = neighborhood_graph(kind);
        break_graph(graph);
        expect_finding(graph, rule, expected);
    }
}

}  // namespace

TEST_CASE(
    "the functions of neighborhood attention are valid in spaces of one to three axes, with and without options") {
    for (NodeKind const kind : kAll) {
        CAPTURE(static_cast<int>(kind));
        expect_valid(neighborhood_graph(kind));
        TestGraph graph = neighborhood_graph(kind);
        options(graph).dilation = {2, 1};
        options(graph).is_causal = {false, true};
        expect_valid(graph);
        if (kind != kAv && kind != kAvBackward) expect_valid(with_bias(kind));
    }
    TestGraph line = neighborhood_graph(kQk), volume = neighborhood_graph(kForward);
    for (int const port : {Q, K}) line.resize(port, {2, 3, 6, 8});
    options(line).kernel_size = {3};
    expect_valid(line);
    for (int const port : {Q, K, V}) volume.resize(port, {2, 4, 6, 5, 3, 8});
    options(volume).kernel_size = {2, 4, 1};
    expect_valid(volume);
}

TEST_CASE("results of neighborhood attention get dims, and Stats its type") {
    CHECK(inferred(neighborhood_graph(kForward), O).dim == Dims{2, 6, 9, 3, 8});
    CHECK(inferred(neighborhood_graph(kForward), O).data_type == DataType_t::HALF);
    CHECK(inferred(neighborhood_graph(kForward), Stats).dim == Dims{2, 6, 9, 3});
    CHECK(inferred(neighborhood_graph(kForward), Stats).data_type == DataType_t::FLOAT);
    for (int const port : {DQ, DK, DV}) {
        CHECK(inferred(neighborhood_graph(kBackward), port).dim == Dims{2, 6, 9, 3, 8});
    }
    CHECK(inferred(with_bias(kBackward), DRelPosBias).dim == Dims{3, 5, 9});
    CHECK(inferred(neighborhood_graph(kQk), Attn).dim == Dims{2, 3, 6, 9, 15});
    CHECK(inferred(neighborhood_graph(kQkBackward), DK).dim == Dims{2, 3, 6, 9, 8});
    CHECK(inferred(with_bias(kQkBackward), DRelPosBias).dim == Dims{3, 5, 9});
    CHECK(inferred(neighborhood_graph(kAv), O).dim == Dims{2, 3, 6, 9, 8});
    CHECK(inferred(neighborhood_graph(kAvBackward), DAttn).dim == Dims{2, 3, 6, 9, 15});
    CHECK(inferred(neighborhood_graph(kAvBackward), DV).dim == Dims{2, 3, 6, 9, 8});
}

TEST_CASE("neighborhood.c01: tokens without space, and with four axes of it") {
    struct Case {
        Dims dim;
        char const* found;
    };
    for (NodeKind const kind : kAll) {
        for (Case const& one : {Case{{2, 3, 8}, " with 3 dims [2, 3, 8]"},
                                Case{{2, 3, 4, 4, 4, 4, 8}, " with 7 dims [2, 3, 4, 4, 4, 4, 8]"}}) {
            TestGraph graph = neighborhood_graph(kind);
            int const leading = has_queries(kind) ? Q : V;
            graph.resize(leading, one.dim);
            for (PortRow const& row : schema_of(kind).ports) {
                bool const is_result = row.direction == Direction::Output && graph.slot(row.port) != kNoTensor;
                if (is_result) graph.resize(row.port, {2, 2, 2, 2});
            }
            std::string const name = has_queries(kind) ? "Q" : "V";
            expect_finding(
                graph, "neighborhood.c01",
                {INVALID_VALUE, "neighbors", name, name + one.found,
                 is_fused(kind) ? "4, 5 or 6 dims, in the order batch, one to three axes of space, heads, vectors"
                                : "4, 5 or 6 dims, in the order batch, heads, one to three axes of space, vectors",
                 "call set_dim() with a size for each"});
        }
    }
}

TEST_CASE("neighborhood.c02: a kernel size for one axis of two, and none") {
    struct Case {
        Dims sizes;
        char const* found;
    };
    for (Case const& one :
         {Case{{3}, "kernel_size [3]"}, Case{{3, 3, 3}, "kernel_size [3, 3, 3]"}, Case{{}, "no kernel_size"}}) {
        expect_in_all("neighborhood.c02",
                      [&](TestGraph& graph) {
                          options(graph).kernel_size = one.sizes;
                          for (int const port : {Attn, DAttn}) {
                              if (graph.slot(port) != kNoTensor) graph.resize(port, {2, 3, 6, 9, 15});
                          }
                      },
                      {INVALID_VALUE, "neighbors", "", one.found, "an entry for each axis of the space [6, 9]",
                       "call set_kernel_size() with a size for each axis"});
    }
}

TEST_CASE("neighborhood.c03: a dilation for one axis of two") {
    expect_in_all("neighborhood.c03", [](TestGraph& graph) { options(graph).dilation = {1}; },
                  {INVALID_VALUE, "neighbors", "", "dilation [1]", "an entry for each axis of the space [6, 9]",
                   "leave set_dilation() out for 1 along each"});
}

TEST_CASE("neighborhood.c04: causality for three axes of two") {
    expect_in_all("neighborhood.c04",
                  [](TestGraph& graph) {
                      options(graph).is_causal = {true, false, true};
                  },
                  {INVALID_VALUE, "neighbors", "", "is_causal [true, false, true]",
                   "an entry for each axis of the space [6, 9]", "leave set_is_causal() out where no axis is causal"});
}

TEST_CASE("neighborhood.c05: a kernel of no keys") {
    for (std::int64_t const size : {std::int64_t{0}, std::int64_t{-3}}) {
        expect_in_all("neighborhood.c05",
                      [&](TestGraph& graph) {
                          options(graph).kernel_size = {3, size};
                          for (int const port : {Attn, DAttn}) {
                              if (graph.slot(port) != kNoTensor) graph.resize(port, {2, 3, 6, 9, 15});
                          }
                      },
                      {INVALID_VALUE, "neighbors", "", "kernel_size " + core::to_string(Dims{3, size}),
                       "at least 1 along each axis",
                       "call set_kernel_size() with 1 for an axis along which a query sees its own position alone"});
    }
}

TEST_CASE("neighborhood.c06: a dilation of 0") {
    expect_in_all("neighborhood.c06",
                  [](TestGraph& graph) {
                      options(graph).dilation = {1, 0};
                  },
                  {INVALID_VALUE, "neighbors", "", "dilation [1, 0]", "at least 1 along each axis",
                   "call set_dilation() with 1 for neighbors without gaps"});
}

TEST_CASE("neighborhood.c07: windows that are larger than the space") {
    struct Case {
        std::int64_t dilation;
        char const *found, *fix;
    };
    for (Case const& one :
         {Case{2, "kernel_size 5 with dilation 2 along axis 1", "call set_kernel_size() with at most 4 there"},
          Case{10, "kernel_size 5 with dilation 10 along axis 1", "call set_dilation() with at most 9 there"},
          Case{kHuge, "kernel_size 5 with dilation 9223372036854775807 along axis 1",
               "call set_dilation() with at most 9 there"}}) {
        expect_in_all("neighborhood.c07",
                      [&](TestGraph& graph) {
                          options(graph).dilation = {1, one.dilation};
                      },
                      {INVALID_VALUE, "neighbors", "", one.found,
                       "kernel_size times dilation of at most 9, the length of that axis", one.fix});
    }
    TestGraph graph = neighborhood_graph(kForward);
    options(graph).kernel_size = {7, 5};
    expect_finding(graph, "neighborhood.c07",
                   {INVALID_VALUE, "neighbors", "", "kernel_size 7 with dilation 1 along axis 0",
                    "kernel_size times dilation of at most 6, the length of that axis",
                    "call set_kernel_size() with at most 6 there"});
    options(graph).kernel_size = {6, 9};
    expect_valid(graph);
}

TEST_CASE("neighborhood.c08: tokens of other dims") {
    for (NodeKind const kind : kAll) {
        for (PortRow const& row : schema_of(kind).ports) {
            bool const follows = row.port == K || row.port == O || row.port == DO || row.port == DQ || row.port == DK ||
                                 row.port == DV || (row.port == V && has_queries(kind));
            if (!follows) continue;
            CAPTURE(static_cast<int>(kind), row.name);
            TestGraph graph = neighborhood_graph(kind);
            graph.resize(row.port, {2, 3, 6, 9, 16});
            std::string const wanted = is_fused(kind) ? "dims [2, 6, 9, 3, 8]" : "dims [2, 3, 6, 9, 8]";
            std::string const name = row.name;
            expect_finding(graph, "neighborhood.c08",
                           {INVALID_VALUE, "neighbors", name, name + " with dims [2, 3, 6, 9, 16]",
                            wanted + ", those of " + (has_queries(kind) ? "Q" : "V"),
                            "call set_dim() on " + name + " with these dims, or change what they follow from"});
        }
    }
}

TEST_CASE("neighborhood.c09: Stats of other dims") {
    for (NodeKind const kind : {kForward, kBackward}) {
        TestGraph graph = neighborhood_graph(kind);
        graph.resize(Stats, {2, 3, 6, 9});
        expect_finding(graph, "neighborhood.c09",
                       {INVALID_VALUE, "neighbors", "Stats", "Stats with dims [2, 3, 6, 9]",
                        "dims [2, 6, 9, 3], a number for each token and head",
                        "call set_dim() on Stats with these dims, or change what they follow from"});
    }
}

TEST_CASE("neighborhood.c10: other slots than the windows have") {
    for (auto const& [kind, port] : {std::pair{kQk, Attn}, std::pair{kQkBackward, DAttn}, std::pair{kAv, Attn},
                                     std::pair{kAvBackward, Attn}, std::pair{kAvBackward, DAttn}}) {
        TestGraph graph = neighborhood_graph(kind);
        graph.resize(port, {2, 3, 6, 9, 9});
        std::string const name = port == Attn ? "Attn" : "dAttn";
        expect_finding(graph, "neighborhood.c10",
                       {INVALID_VALUE, "neighbors", name, name + " with dims [2, 3, 6, 9, 9]",
                        "dims [2, 3, 6, 9, 15], batch, heads, space, and a slot for each key of a window",
                        "call set_dim() on " + name + " with these dims, or change what they follow from"});
    }
}

TEST_CASE("neighborhood.c11: a bias of other dims") {
    for (auto const& [kind, port] :
         {std::pair{kForward, RelPosBias}, std::pair{kBackward, RelPosBias}, std::pair{kBackward, DRelPosBias},
          std::pair{kQk, RelPosBias}, std::pair{kQkBackward, DRelPosBias}}) {
        TestGraph graph = with_bias(kind);
        graph.resize(port, {3, 3, 5});
        std::string const name = port == RelPosBias ? "Rel_pos_bias" : "dRel_pos_bias";
        expect_finding(graph, "neighborhood.c11",
                       {INVALID_VALUE, "neighbors", name, name + " with dims [3, 3, 5]",
                        "dims [3, 5, 9], heads, and the distances along each axis, 2 * kernel_size - 1",
                        "call set_dim() on " + name + " with these dims, or change what they follow from"});
    }
}

TEST_CASE("neighborhood.c12: a bias beside a causal axis") {
    for (NodeKind const kind : {kForward, kBackward, kQk, kQkBackward}) {
        TestGraph graph = with_bias(kind);
        options(graph).is_causal = {false, true};
        expect_finding(
            graph, "neighborhood.c12",
            {INVALID_VALUE, "neighbors", kind == kQkBackward ? "dRel_pos_bias" : "Rel_pos_bias",
             "a relative position bias with is_causal [false, true]", "no causal axis with a relative position bias",
             "leave out the bias, or leave out set_is_causal()"});
        options(graph).is_causal = {false, false};
        expect_valid(graph);
    }
}

TEST_CASE("neighborhood.c13: even kernels in the products, and with a bias") {
    for (NodeKind const kind : {kQk, kQkBackward, kAv, kAvBackward}) {
        TestGraph graph = neighborhood_graph(kind);
        options(graph).kernel_size = {3, 4};
        for (int const port : {Attn, DAttn}) {
            bool const is_there = graph.slot(port) != kNoTensor;
            if (is_there && !graph.at(port).dim.empty()) graph.resize(port, {2, 3, 6, 9, 12});
        }
        expect_finding(graph, "neighborhood.c13",
                       {INVALID_VALUE, "neighbors", "", "kernel_size [3, 4] in a product of its own",
                        "odd sizes, so that windows are centered",
                        "make the even sizes odd, or use neighborhood_attention(), which supports them"});
    }
    for (NodeKind const kind : {kForward, kBackward}) {
        TestGraph graph = with_bias(kind);
        options(graph).kernel_size = {2, 5};
        graph.resize(RelPosBias, {3, 3, 9});
        expect_finding(graph, "neighborhood.c13",
                       {INVALID_VALUE, "neighbors", "", "kernel_size [2, 5] with a relative position bias",
                        "odd sizes, so that windows are centered", "make the even sizes odd, or leave out the bias"});
        TestGraph plain = neighborhood_graph(kind);
        options(plain).kernel_size = {2, 4};
        expect_valid(plain);
    }
}

TEST_CASE("neighborhood.c14: operands of two types, and of one that is not taken") {
    for (NodeKind const kind : {kForward, kBackward, kQk, kQkBackward}) {
        TestGraph graph = neighborhood_graph(kind);
        graph.at(K).data_type = DataType_t::BFLOAT16;
        expect_finding(graph, "neighborhood.c14",
                       {GRAPH_NOT_SUPPORTED, "neighbors", "K", "K of type BFLOAT16", "type HALF",
                        "call set_data_type(DataType_t::HALF)"});
    }
    for (NodeKind const kind : kAll) {
        TestGraph graph = neighborhood_graph(kind);
        std::string const name = has_queries(kind) ? "Q" : "V";
        graph.at(has_queries(kind) ? Q : V).data_type = DataType_t::FP8_E4M3;
        expect_finding(graph, "neighborhood.c14",
                       {GRAPH_NOT_SUPPORTED, "neighbors", name, name + " of type FP8_E4M3",
                        "type HALF, BFLOAT16 or FLOAT", "convert the operands to one of these types"});
    }
}

TEST_CASE("neighborhood.c15: other tensors of a type that is not taken") {
    for (NodeKind const kind : kAll) {
        for (PortRow const& row : schema_of(kind).ports) {
            bool const is_operand = row.port == Q || row.port == K || row.port == V || row.port == Stats;
            TestGraph graph = has_queries(kind) ? with_bias(kind) : neighborhood_graph(kind);
            if (is_operand || graph.slot(row.port) == kNoTensor) continue;
            graph.at(row.port).data_type = DataType_t::FLOAT;
            expect_valid(graph);
            graph.at(row.port).data_type = DataType_t::INT32;
            std::string const name = row.name;
            expect_finding(graph, "neighborhood.c15",
                           {GRAPH_NOT_SUPPORTED, "neighbors", name, name + " of type INT32",
                            "type HALF, BFLOAT16 or FLOAT", "call set_data_type() with one of these"});
        }
    }
}

TEST_CASE("neighborhood.c16: Stats in HALF") {
    for (NodeKind const kind : {kForward, kBackward}) {
        TestGraph graph = neighborhood_graph(kind);
        graph.at(Stats).data_type = DataType_t::HALF;
        expect_finding(graph, "neighborhood.c16",
                       {GRAPH_NOT_SUPPORTED, "neighbors", "Stats", "Stats of type HALF", "type FLOAT",
                        "call set_data_type(DataType_t::FLOAT)"});
    }
}

TEST_CASE("neighborhood.c17: computing in HALF") {
    expect_in_all("neighborhood.c17", [](TestGraph& graph) { graph.nodes[0].compute_data_type = DataType_t::HALF; },
                  {GRAPH_NOT_SUPPORTED, "neighbors", "", "compute data type HALF", "compute data type FLOAT",
                   "call set_compute_data_type(DataType_t::FLOAT)"});
}

TEST_CASE("neighborhood.c18: a bias that the host passes") {
    TestGraph graph = neighborhood_graph(kForward);
    for (int const port : {Q, K, V}) graph.resize(port, {1, 1, 1, 1});
    options(graph).kernel_size = {1};
    graph.connect(RelPosBias, {1, 1}, DataType_t::HALF).is_by_value = true;
    expect_finding(graph, "neighborhood.c18",
                   {GRAPH_NOT_SUPPORTED, "neighbors", "Rel_pos_bias", "Rel_pos_bias passed by value",
                    "a pointer to its elements", "call set_is_pass_by_value(false)"});
}

TEST_CASE("neighborhood.c19: an infinite scale") {
    TestGraph graph = neighborhood_graph(kForward);
    graph.fields<NeighborhoodForwardFields>().attn_scale = std::numeric_limits<float>::infinity();
    Expected const expected{INVALID_VALUE,
                            "neighbors",
                            "",
                            "the attention scale inf",
                            "a finite number",
                            "call set_attn_scale() with a finite number; leave it out for 1 / sqrt(D)"};
    expect_finding(graph, "neighborhood.c19", expected);
    graph = neighborhood_graph(kBackward);
    graph.fields<NeighborhoodBackwardFields>().attn_scale = std::numeric_limits<float>::infinity();
    expect_finding(graph, "neighborhood.c19", expected);
}

TEST_CASE("neighborhood.c20: Stats that was not asked for, and the other way round") {
    TestGraph graph = neighborhood_graph(kForward);
    graph.fields<NeighborhoodForwardFields>().generate_stats = false;
    expect_finding(graph, "neighborhood.c20",
                   {ATTRIBUTE_NOT_SET, "neighbors", "Stats", "a Stats tensor and generate_stats off",
                    "a Stats tensor exactly where generate_stats is on", "call set_generate_stats(true)"});
    graph = neighborhood_graph(kForward);
    graph.disconnect(Stats);
    expect_finding(graph, "neighborhood.c20",
                   {ATTRIBUTE_NOT_SET, "neighbors", "Stats", "generate_stats on and no Stats tensor",
                    "a Stats tensor exactly where generate_stats is on", "connect a tensor to Stats"});
}

TEST_CASE("neighborhood.c21: the gradient of a bias that backward does not have") {
    TestGraph graph = with_bias(kBackward);
    graph.disconnect(RelPosBias);
    expect_finding(
        graph, "neighborhood.c21",
        {ATTRIBUTE_NOT_SET, "neighbors", "dRel_pos_bias", "dRel_pos_bias and no Rel_pos_bias",
         "the bias that forward added to the scores", "call set_rel_pos_bias(), or leave out set_drel_pos_bias()"});
}

TEST_CASE("neighborhood.c22: scores beyond all memory") {
    constexpr std::int64_t kLong = std::int64_t{1} << 31;
    TestGraph graph = neighborhood_graph(kForward);
    for (int const port : {Q, K, V}) graph.resize(port, {1, kLong, 1, 1});
    options(graph).kernel_size = {kLong};
    expect_finding(graph, "neighborhood.c22",
                   {GRAPH_NOT_SUPPORTED, "neighbors", "", "scores of dims [1, 1, 2147483648, 2147483648]",
                    "at most 2^60 elements", "split the batch or the heads over several graphs"});
}

TEST_CASE("the fix of backward without Stats names forward's option") {
    TestGraph graph = neighborhood_graph(kBackward);
    graph.disconnect(Stats);
    expect_finding(graph, "graph.c01",
                   {ATTRIBUTE_NOT_SET, "neighbors", "Stats", "no tensor (null)", "the tensor Stats, what forward made",
                    "call set_generate_stats(true) on the attributes of the forward attention, and pass the Stats that "
                    "neighborhood_attention() returns then"});
}
