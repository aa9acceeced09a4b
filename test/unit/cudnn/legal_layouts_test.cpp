// How passes describe tensors in memory to cuDNN.
#include "unit/cudnn/legal_forms.h"

#include "support/catch.h"

#include <algorithm>
#include <set>
#include <tuple>

using namespace test;

TEST_CASE("A last dim of 1 has a stride of 1, and is a row of the transpose", "[passes]") {
    auto graph = AttentionGraph::forward().bias({2, 4, 6, 1});
    graph.tensor(Port::Bias).stride = {24, 6, 1, 6};
    CHECK(find_value(legal(graph), "bias").stride == core::Dims{24, 6, 1, 1});
    CHECK(find_value(composite(graph), "bias").stride == core::Dims{24, 6, 1, 6});

    auto narrow = AttentionGraph::forward();
    for (int const port : {Port::Q, Port::K}) {
        core::Dims& dim = narrow.tensor(port).dim;
        dim[3] = 1;
        narrow.tensor(port).stride = {dim[1] * dim[2], dim[2], 1, dim[2]};
    }
    CHECK(find_value(legal(narrow), "K").stride == core::Dims{20, 5, 1, 1});
    CHECK(find_value(legal(narrow), "K^T").stride == core::Dims{20, 5, 1, 1});
}

// Engines get rows wrong that they broadcast in backward, and single numbers; where they do not, a repeated row is
// slow.
TEST_CASE("A row that scores share is repeated where engines broadcast it wrong, and nowhere else", "[passes]") {
    using core::Dims;
    auto const is_repeated = [](AttentionGraph const& attention, char const* name) {
        ir::OpGraph const graph = legal(attention);
        return std::ranges::any_of(graph.values(), [&](ir::Value const& value) { return value.name == name; });
    };
    struct Row {
        Dims dim;
        bool in_forward, in_backward;
    };
    for (auto const& [dim, in_forward, in_backward] :
         {Row{{2, 4, 6, 5}, false, false}, Row{{1, 1, 6, 1}, false, false}, Row{{1, 1, 1, 5}, false, true},
          Row{{2, 1, 1, 5}, false, true}, Row{{2, 1, 1, 1}, true, true}, Row{{1, 4, 1, 1}, false, false}}) {
        CAPTURE(dim);
        CHECK(is_repeated(AttentionGraph::forward().bias(dim), "bias*") == in_forward);
        CHECK(is_repeated(AttentionGraph::backward().bias(dim), "bias*") == in_backward);
        CHECK(is_repeated(with_modifier(dim), "other*") == in_forward);
        CHECK(is_repeated(with_modifier(PointwiseMode_t::MUL, dim), "other*") == in_backward);
    }
}

static std::int64_t alignment_of(cudnn::LegalGraph const& legal, std::string const& name) {
    for (auto const& [id, bytes] : legal.alignments) {
        if (legal.graph.value(id).name == name) return bytes;
    }
    return find_value(legal.graph, name).name == name ? cudnn::kAlignment : 0;
}

// Engines read rows in pieces of the alignment, forward's past their end.
TEST_CASE("A dropout mask has no more alignment than its rows' length", "[passes]") {
    auto const alignment = [](AttentionGraph graph, core::Dims const& dim, char const* name) {
        resize(graph, {Port::K, Port::V}, 2, dim[3]);
        if (graph.node().kind() == nodes::NodeKind::SdpaBackward) resize(graph, {Port::DK, Port::DV}, 2, dim[3]);
        graph.dropout_mask();
        graph.tensor(Port::DropoutMask).dim = dim;
        graph.tensor(Port::DropoutMask).stride = core::packed_strides(dim);
        return alignment_of(legalized(graph), name);
    };
    for (auto const& [keys, name, bytes] : {std::tuple{5, "dropout_mask@2", 2},
                                            {6, "dropout_mask@4", 4},
                                            {12, "dropout_mask@8", 8},
                                            {24, "dropout_mask", 16}}) {
        CHECK(alignment(AttentionGraph::forward(), {2, 4, 6, keys}, name) == bytes);
        CHECK(alignment(AttentionGraph::backward(), {2, 4, 6, keys}, name) == bytes);
    }
}

namespace {

// "Q 0 24 48 INT32, ": the tensors that are given offsets, with these.
std::string given_offsets(cudnn::LegalGraph const& legal) {
    std::string text;
    for (auto const& [dense, offsets] : legal.offsets) {
        ir::Value const& table = legal.graph.value(offsets);
        text += legal.graph.value(dense).name;
        for (double const start : table.table) text += " " + std::to_string(static_cast<int>(start));
        text += table.type == DataType_t::INT64 ? " INT64, " : ", ";
    }
    return text;
}

}  // namespace

// Engines take tensors that are all ragged or all dense.
TEST_CASE("In a graph with ragged tensors dense ones are given offsets, b times their stride", "[passes]") {
    auto graph = AttentionGraph::forward().padding();
    CHECK(given_offsets(legalized(graph)) == "");
    pack_rows(graph, {Port::Q});
    CHECK(given_offsets(legalized(graph)) == "K 0 160 320, O 0 384 768, V 0 320 640, ");
    auto const offset = static_cast<std::size_t>(graph.tensor(Port::Q).ragged_offset);
    graph.spec.tensors[offset].data_type = DataType_t::INT64;
    CHECK(given_offsets(legalized(graph)) == "K 0 160 320 INT64, O 0 384 768 INT64, V 0 320 640 INT64, ");
    pack_rows(graph, {Port::K, Port::V, Port::O});
    CHECK(given_offsets(legalized(graph)) == "");

    auto pages = AttentionGraph::forward().padding().pages();
    pack_rows(pages, {Port::Q});
    CHECK(given_offsets(legalized(pages)) == "O 0 384 768, ");
}

TEST_CASE("Gradients share the offsets that are given to what they are gradients of", "[passes]") {
    auto graph = AttentionGraph::backward().heads(2, 1).padding();
    pack_rows(graph, {Port::O, Port::DO});
    cudnn::LegalGraph const legal = legalized(graph);
    CHECK(given_offsets(legal) == "Q 0 192 384, K 0 80 160, V 0 80 160, dV 0 80 160, dK 0 80 160, dQ 0 192 384, ");
    std::set<ir::ValueId> tables;
    for (auto const& [dense, offsets] : legal.offsets) tables.insert(offsets);
    CHECK(tables.size() == 2);
}
