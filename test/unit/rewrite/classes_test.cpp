// Programs of classes of shapes, step by step, and what keeps graphs out of a class.
#include "expand/expand.h"
#include "plan/packs/pack.h"
#include "rewrite/rewrites/rewrites.h"
#include "unit/rewrite/attention_graphs.h"

using namespace test;
using namespace attention;
namespace plan = cudnn_frontend::plan;

namespace {

std::string program_of(TestGraph const& graph) {
    Rewritable const rewritable(graph);
    return rewritable.text(rewrite::classes(*rewritable));
}

// The text from a part on, up to the end of its line.
std::string line_with(std::string const& text, std::string const& part) {
    auto const at = text.find(part);
    return at == text.npos ? "no \"" + part + "\" in\n" + text : text.substr(at, text.find('\n', at) - at);
}

std::string refusal(std::string const& condition) { return test::refusal("classes", {"classes." + condition}); }

constexpr Problem kProblem{.batches = 3, .heads = 4, .key_heads = 2, .queries = 100, .keys = 90, .columns = 16};
constexpr Problem kEqualHeads{.batches = 3, .heads = 4, .key_heads = 4, .queries = 100, .keys = 90, .columns = 16};

void lay_rows_first(TensorSpec& tensor) {
    core::Dims const& dim = tensor.dim;
    tensor.stride = {dim[1] * dim[2] * dim[3], dim[3], dim[1] * dim[3], 1};
}

// Each row holds all heads.
TestGraph rows_first(TestGraph graph) {
    for (int const port : {Q, K, V}) lay_rows_first(graph.at(port));
    bool const is_forward = graph.nodes[0].kind() == NodeKind::SdpaForward;
    if (is_forward) graph.at(O).dim = graph.at(Q).dim, lay_rows_first(graph.at(O));
    if (is_forward) return graph;
    for (int const port : {O, DO}) lay_rows_first(graph.at(port));
    for (int const port : {DQ, DK, DV}) {
        graph.at(port).dim = graph.at(port == DQ ? Q : K).dim;
        lay_rows_first(graph.at(port));
    }
    return graph;
}

TestGraph with_stats(TestGraph graph) {
    graph.fields<SdpaForwardFields>().generate_stats = true;
    graph.connect_output(Stats);
    return graph;
}

TestGraph packed(TestGraph graph) {
    graph = rows_first(with_lengths(std::move(graph)));
    TensorId const offset = graph.add("offset", {graph.at(Q).dim[0] + 1, 1, 1, 1}, DataType_t::INT32);
    for (int const port : {Q, O}) graph.at(port).ragged_offset = offset;
    return graph;
}

}  // namespace

TEST_CASE("classes: slots of sequences where rows hold all heads, and Stats by way of scratch") {
    CHECK(program_of(rows_first(backward_graph(kProblem))) == R"(program classes
scratch 0: 256 bytes
scratch 1: 256 bytes
scratch 2: 256 bytes
scratch 3: 256 bytes
scratch 4: 4864 bytes
scratch 5: 256 bytes
1. tables of slots
   writes lengths of queries: scratch 0 [4, 1, 1, 1] INT32
   writes lengths of keys: scratch 1 [4, 1, 1, 1] INT32
   writes starts: scratch 2 [5, 1, 1, 1] INT64
   writes starts: scratch 3 [5, 1, 1, 1] INT64
   writes starts: scratch 5 [5, 1, 1, 1] INT64
2. copy
   reads terms: Stats [1, 3, 4, 100, 1] FLOAT strides [0, 400, 100, 1, 1]
   writes result: scratch 4 [3, 4, 100, 1] FLOAT strides [400, 1, 4, 1]
3. SDPA_BACKWARD padding_mask=true
   reads Q: Q [4, 4, 128, 16] HALF strides [8192, 16, 64, 1]
   reads K: K [4, 2, 128, 16] HALF strides [4096, 16, 32, 1]
   reads V: V [4, 2, 128, 16] HALF strides [4096, 16, 32, 1]
   reads O: O [4, 4, 128, 16] HALF strides [8192, 16, 64, 1]
   reads dO: dO [4, 4, 128, 16] HALF strides [8192, 16, 64, 1]
   reads Stats: scratch 4 [4, 4, 128, 1] FLOAT strides [512, 1, 4, 1]
   writes dQ: dQ [4, 4, 128, 16] HALF strides [8192, 16, 64, 1]
   writes dK: dK [4, 2, 128, 16] HALF strides [4096, 16, 32, 1]
   writes dV: dV [4, 2, 128, 16] HALF strides [4096, 16, 32, 1]
   reads seq_len_q: scratch 0 [4, 1, 1, 1] INT32
   reads seq_len_kv: scratch 1 [4, 1, 1, 1] INT32
)");
}

TEST_CASE("classes: slots of heads where these lie outside of the rows; lengths clear what is behind them") {
    std::string const text = program_of(with_lengths(backward_graph(kEqualHeads)));
    CHECK(line_with(text, "1. ") == "1. tables of slots heads=4");
    CHECK(line_with(text, "reads given lengths of queries") ==
          "reads given lengths of queries: seq_len_q [3, 1, 1, 1] INT32");
    CHECK(line_with(text, "reads Q:") == "reads Q: Q [16, 1, 128, 16] HALF");
    CHECK(line_with(text, "reads Stats:") == "reads Stats: Stats [16, 1, 128, 1] FLOAT");
    CHECK(line_with(text, "writes dV:") == "writes dV: dV [16, 1, 128, 16] HALF");
    CHECK(line_with(text, "3. ") == "3. clear padding");
    CHECK(line_with(text, "writes rows: dK") == "writes rows: dK [3, 4, 90, 16] HALF");
    CHECK(text.find("copy") == text.npos);
}

TEST_CASE("classes: packs have the slots that the expanded graph has") {
    TestGraph const graphs[] = {rows_first(forward_graph(kProblem)), with_stats(packed(forward_graph(kProblem))),
                                with_lengths(backward_graph(kEqualHeads)), packed(backward_graph(kProblem))};
    for (TestGraph const& graph : graphs) {
        Rewritable const rewritable(graph);
        auto const expanded = cudnn_frontend::expand::expand(rewritable.graph(), {});
        REQUIRE(expanded.is_good());
        auto const& spec = rewritable.graph().spec();
        auto const wanted = plan::make_pack_layout(spec, expanded.value()), found = plan::make_pack_layout(spec);
        REQUIRE(found.slots.size() == wanted.slots.size());
        for (std::size_t i = 0; i < wanted.slots.size(); ++i) {
            plan::Slot const &a = found.slots[i], &b = wanted.slots[i];
            CAPTURE(b.name);
            CHECK((a.uid == b.uid && a.name == b.name && a.is_written == b.is_written));
            CHECK((a.is_on_host == b.is_on_host && a.element_size == b.element_size && a.alignment == b.alignment));
            CHECK((a.span == b.span && a.dim == b.dim && a.stride == b.stride && a.is_factor == b.is_factor));
            CHECK((a.offset_slot == b.offset_slot && a.offset_unit == b.offset_unit));
        }
        CHECK(found.virtual_tensors.size() == wanted.virtual_tensors.size());
    }
}

TEST_CASE("classes: given offsets of packed tensors become starts of slots, and their results have no padding") {
    std::string const text = program_of(packed(forward_graph(kProblem)));
    CHECK(line_with(text, "reads given starts") == "reads given starts: offset [4, 1, 1, 1] INT32");
    CHECK(text.find("clear padding") == text.npos);
}

TEST_CASE("classes: all sizes that round up alike, and all names, have one graph") {
    auto const graph_of = [](Problem const& sizes, char const* name) {
        TestGraph graph = rows_first(forward_graph(sizes));
        graph.name = graph.nodes[0].name = name;
        Rewritable const rewritable(graph);
        auto program = rewrite::classes(*rewritable);
        REQUIRE(program.error().get_message() == "");
        return std::get<rewrite::Attend>(program.value().steps[1]).graph;
    };
    Problem other = kProblem;
    other.batches = 1, other.queries = 65, other.keys = 128;
    CHECK(graph_of(kProblem, "one") == graph_of(other, "another"));
    other.keys = 129;
    CHECK(graph_of(kProblem, "one") != graph_of(other, "another"));
}

TEST_CASE("classes: the diagonal of a square is at the top left, where engines skip more") {
    TestGraph graph = rows_first(forward_graph({.queries = 90, .keys = 90}));
    graph.attention_options().right_bound = 0;
    graph.attention_options().diagonal_alignment = DiagonalAlignment_t::BOTTOM_RIGHT;
    CHECK(program_of(graph).find("BOTTOM_RIGHT") == std::string::npos);
    CHECK(program_of(with_lengths(graph)).find("BOTTOM_RIGHT") != std::string::npos);
}

TEST_CASE("classes.c01: other types, and Stats in base 2") {
    std::string const refused = refusal("c01: tensors of HALF or of BFLOAT16, with Stats of FLOAT in base e");
    TestGraph graph = rows_first(forward_graph(kProblem));
    for (int const port : {Q, K, V}) graph.at(port).data_type = DataType_t::FLOAT;
    graph.io_data_type = DataType_t::FLOAT;
    CHECK(program_of(graph) == refused);
    graph = with_stats(rows_first(forward_graph(kProblem)));
    graph.attention_options().stats_use_log2 = true;
    CHECK(program_of(graph) == refused);
}

TEST_CASE("classes.c02: a bias") {
    TestGraph graph = rows_first(forward_graph(kProblem));
    graph.connect(Bias, {1, 1, 100, 90}, DataType_t::HALF);
    CHECK(program_of(graph) ==
          refusal("c02: no operands but Q, K, V, O, dO, Stats, attn_scale, lengths, a sink and gradients: a bias and "
                  "pages depend on the sizes"));
}

TEST_CASE("classes.c03: dropout") {
    TestGraph graph = rows_first(forward_graph(kProblem));
    graph.attention_options().dropout_probability = 0.1f;
    for (int const port : {Seed, Offset}) graph.connect(port, {1, 1, 1, 1}, DataType_t::INT64);
    std::string const text = program_of(graph);
    CHECK(text.find("classes.c03") != text.npos);
}

TEST_CASE("classes.c04: lengths of 64 bits, and numbers that lie apart") {
    std::string const refused = refusal(
        "c04: lengths of INT32, offsets, and numbers of a sink, if there are any, that lie side by side; next to Stats "
        "a sink of FLOAT");
    TestGraph graph = with_lengths(rows_first(forward_graph(kProblem)));
    graph.at(SeqLenKv).data_type = DataType_t::INT64;
    CHECK(program_of(graph) == refused);
    graph = with_lengths(rows_first(forward_graph(kProblem)));
    graph.at(SeqLenQ).stride = {2, 1, 1, 1};
    CHECK(program_of(graph) == refused);
    graph = packed(forward_graph(kProblem));
    graph.tensors[static_cast<std::size_t>(graph.at(Q).ragged_offset)].stride = {2, 1, 1, 1};
    CHECK(program_of(graph) == refused);
    graph = rows_first(forward_graph(kProblem));
    graph.connect(SinkToken, {1, 4, 1, 1}, DataType_t::FLOAT).stride = {8, 2, 1, 1};
    CHECK(program_of(graph) == refused);
    graph.at(SinkToken).stride = {4, 1, 1, 1};
    CHECK(program_of(graph) != refused);
    graph.at(SinkToken).data_type = DataType_t::BFLOAT16;
    CHECK(program_of(graph) != refused);
    CHECK(program_of(with_stats(graph)) == refused);
}

TEST_CASE("classes.c05: results that nobody asks for") {
    TestGraph graph = rows_first(backward_graph(kProblem));
    graph.at(DK).is_virtual = true;
    graph.at(DK).data_type = DataType_t::FLOAT;
    std::string const text = program_of(graph);
    CHECK(text.find("classes.c05") != text.npos);
}

TEST_CASE("classes.c06: rows that share memory") {
    TestGraph graph = rows_first(forward_graph(kProblem));
    graph.at(Q).stride = {64, 16, 0, 1};
    CHECK(program_of(graph) == refusal("c06: rows that do not share memory"));
}

TEST_CASE("classes.c07: backward of heads that share keys, and ALiBi, outside of the rows") {
    std::string const refused = refusal(
        "c07: rows that hold all heads; or padded tensors with as many heads in K as in V, of as many queries in "
        "backward, and neither ALiBi nor a sink");
    CHECK(program_of(backward_graph(kProblem)) == refused);
    TestGraph graph = forward_graph(kEqualHeads);
    CHECK(program_of(graph).find("does not apply") == std::string::npos);
    graph.attention_options().alibi_mask = true;
    CHECK(program_of(graph) == refused);
}

TEST_CASE("classes.c08: batch entries that do not start at multiples of 16 bytes") {
    TestGraph graph = rows_first(forward_graph(kProblem));
    graph.at(K).stride[0] += 4;
    CHECK(program_of(graph) == refusal("c08: batch entries and heads that start at multiples of 16 bytes"));
}
