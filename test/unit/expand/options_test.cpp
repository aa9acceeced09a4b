// Each option adds its operations to those of attention without it, and nothing else.
#include "attention_graphs.h"
#include "core/data_type.h"
#include "nodes/schema/schema.h"
#include "support/catch.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

using namespace test;

namespace {

constexpr auto kTopLeft = DiagonalAlignment_t::TOP_LEFT;
constexpr auto kBottomRight = DiagonalAlignment_t::BOTTOM_RIGHT;

std::string const kHead = "MATMUL ";
std::string const kTail = "REDUCE_MAX SUB EXP REDUCE_ADD DIV ";
std::string const kPadding = "GEN_INDEX GEN_INDEX CMP_LT CMP_LT LOGICAL_AND BINARY_SELECT ";

double constant(ir::OpGraph const& graph, std::string const& name) {
    return core::to_double(find_value(graph, name).constant);
}

}  // namespace

TEST_CASE("Scores: each option adds its own operations", "[expand]") {
    struct Row {
        char const* option;
        AttentionGraph graph;
        std::string added;
    };
    auto const base = [] { return AttentionGraph::forward(); };
    auto alibi = base();
    alibi.fields().alibi_mask = true;
    std::vector<Row> const rows = {
        {"none", base(), ""},
        {"scale", base().scale(0.5f), "MUL "},
        {"bias", base().bias({1, 1, 6, 5}), "ADD "},
        {"alibi", alibi, "GEN_INDEX GEN_INDEX SUB MUL ADD "},
        {"padding", base().padding(), kPadding},
        {"causal", base().band(kTopLeft, {}, 0), "GEN_INDEX GEN_INDEX CMP_GE BINARY_SELECT "},
        {"right", base().band(kTopLeft, {}, 2), "GEN_INDEX GEN_INDEX ADD CMP_GE BINARY_SELECT "},
        {"causal br", base().band(kBottomRight, {}, 0), "GEN_INDEX GEN_INDEX ADD SUB CMP_GE BINARY_SELECT "},
        {"right br", base().band(kBottomRight, {}, 2), "GEN_INDEX GEN_INDEX ADD SUB ADD CMP_GE BINARY_SELECT "},
        {"left", base().band(kTopLeft, 2, {}), "GEN_INDEX GEN_INDEX ADD CMP_GT BINARY_SELECT "},
        {"left br", base().band(kBottomRight, 2, {}), "GEN_INDEX GEN_INDEX ADD SUB ADD CMP_GT BINARY_SELECT "},
        {"left br lengths", base().padding().band(kBottomRight, 2, {}),
         kPadding + "GEN_INDEX GEN_INDEX ADD SUB ADD CMP_GT BINARY_SELECT "},
        {"alignment alone", base().band(kBottomRight, {}, {}), ""},
    };
    for (Row const& row : rows) {
        CAPTURE(row.option);
        CHECK(kinds(composite(row.graph)) == kHead + row.added + kTail + "MATMUL");
    }
}

TEST_CASE("Probabilities: each form of dropout adds its own operations", "[expand]") {
    CHECK(kinds(composite(AttentionGraph::forward().dropout(0.25f))) == kHead + kTail + "RNG MUL MUL MATMUL");
    CHECK(kinds(composite(AttentionGraph::forward().dropout(0.0f))) == kHead + kTail + "MATMUL");
    CHECK(kinds(composite(AttentionGraph::forward().dropout_mask())) == kHead + kTail + "MUL MUL MATMUL");
}

TEST_CASE("Dropout keeps with the chance that is left and scales by its inverse", "[expand]") {
    ir::OpGraph const graph = composite(AttentionGraph::forward().dropout(0.25f));
    REQUIRE(bodies<ir::RngOp>(graph).size() == 1);
    CHECK(bodies<ir::RngOp>(graph)[0].probability == 0.75);
    CHECK(constant(graph, "dropout_scale") == Approx(4.0 / 3.0));
    ir::OpGraph const backward = composite(AttentionGraph::backward().dropout(0.25f));
    CHECK(bodies<ir::RngOp>(backward)[0].probability == 0.75);
    CHECK(constant(backward, "dropout_scale") == Approx(4.0 / 3.0));
}

TEST_CASE("Bounds carry the shift of the diagonal", "[expand]") {
    ir::OpGraph const top = composite(AttentionGraph::forward().band(kTopLeft, 3, 2));
    CHECK(constant(top, "right_bound") == 2.0);
    CHECK(constant(top, "left_bound") == 3.0);
    CHECK(kinds(top).find("ADD CMP_GT") != std::string::npos);

    ir::OpGraph const bottom = composite(AttentionGraph::forward().band(kBottomRight, 3, 2));
    CHECK(constant(bottom, "right_bound_keys") == 5.0);
    CHECK(constant(bottom, "right_bound_queries") == 6.0);
    CHECK(constant(bottom, "left_bound") == 3.0);
    CHECK(constant(bottom, "left_bound_keys") == 5.0);
    CHECK(constant(bottom, "left_bound_queries") == 6.0);
    CHECK(kinds(bottom).find("ADD SUB ADD CMP_GT") != std::string::npos);

    ir::OpGraph const lengths = composite(AttentionGraph::forward().padding().band(kBottomRight, 3, 2));
    CHECK(constant(lengths, "left_bound") == 3.0);
    CHECK(kinds(lengths).find("ADD SUB ADD CMP_GT") != std::string::npos);
}

TEST_CASE("As many queries as keys have one diagonal at both corners", "[expand]") {
    auto const text = [](DiagonalAlignment_t corner, bool has_lengths) {
        auto attention = AttentionGraph::forward();
        resize(attention, {Port::K, Port::V}, 2, 6);
        if (has_lengths) attention.padding();
        return ir::to_text(composite(attention.band(corner, 3, 2)));
    };
    CHECK(text(kBottomRight, false) == text(kTopLeft, false));
    CHECK(text(kBottomRight, true) != text(kTopLeft, true));  // each sequence has its own
}

// Q has 6 rows and K has 5 of them.
TEST_CASE("A bound that masks nothing makes no operation, the next smaller one does", "[expand]") {
    struct Case {
        DiagonalAlignment_t corner;
        bool has_lengths;
        std::int64_t left, right;  // the smallest that mask nothing
    };
    for (auto const& [corner, has_lengths, left, right] :
         {Case{kTopLeft, false, 6, 4}, Case{kTopLeft, true, 6, 4}, Case{kBottomRight, false, 5, 5},
          Case{kBottomRight, true, 5, 5}, Case{kBottomRight, true, 2147483647, 2147483647}}) {
        CAPTURE(left, right, has_lengths);
        auto const masks = [&](std::int64_t l, std::int64_t r) {
            auto attention = AttentionGraph::forward();
            if (has_lengths) attention.padding();
            return ir::to_text(composite(attention.band(corner, l, r)));
        };
        CHECK(masks(left, right).find("_bound") == std::string::npos);
        if (left == 2147483647) continue;
        CHECK(masks(left - 1, right).find("left_bound_inside") != std::string::npos);
        CHECK(masks(left, right - 1).find("right_bound_inside") != std::string::npos);
    }
}

TEST_CASE("Masks fill with minus infinity", "[expand]") {
    ir::OpGraph const graph = composite(AttentionGraph::forward().padding().band(kTopLeft, 3, 2));
    for (char const* const name : {"padding_fill", "right_bound_fill", "left_bound_fill"}) {
        CAPTURE(name);
        CHECK(constant(graph, name) == -INFINITY);
    }
}

TEST_CASE("Alibi slopes are geometric, with the finer sequence for heads past a power of two", "[expand]") {
    auto attention = AttentionGraph::forward();
    attention.fields().alibi_mask = true;
    for (int const port : {Port::Q, Port::K, Port::V, Port::O}) {
        attention.tensor(port).dim[1] = 6;
        attention.tensor(port).stride = core::packed_strides(attention.tensor(port).dim);
    }
    ir::OpGraph const graph = composite(attention);
    ir::Value const& slopes = find_value(graph, "alibi_slopes");
    CHECK(slopes.role == ir::Role::Constant);
    CHECK(slopes.dim == core::Dims{1, 6, 1, 1});
    CHECK(slopes.stride == core::Dims{6, 1, 1, 1});
    CHECK(slopes.table == std::vector<double>{0.25, 0.0625, 1.0 / 64, 1.0 / 256, 0.5, 0.125});
}
