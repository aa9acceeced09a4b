// Masks of one edge, which engines recognize by their form and of which they apply one alone: the forms that the
// backend gets.
#include "unit/cudnn/planning/recorded_planning.h"

#include <cudnn_frontend/score_modifiers.h>

#include "support/below_modifier.h"
#include "support/catch.h"

#include <map>
#include <regex>
#include <string>

using namespace cudnn_frontend;
using sdpa_test::h200;
using sdpa_test::RecordedPlanning;
namespace modifiers = cudnn_frontend::graph::attn::score_modifiers;

namespace {

using Graph_ptr = std::shared_ptr<graph::Graph>;

test::Tensor_ptr window(Graph_ptr const& graph, test::Tensor_ptr const& scores) {
    return modifiers::sliding_window_mask(graph, scores, DiagonalAlignment_t::TOP_LEFT, 4, 1, 6, 10, nullptr, nullptr);
}

// The comparisons that the backend gets, in order, with the axes of the indices on their sides.
std::string comparisons(graph::SDPA_attributes const& options, std::int64_t queries = 6) {
    RecordedPlanning const recorded;
    test::SmallGraph small = test::small_graph(options, queries);
    small.graph.set_io_data_type(DataType_t::HALF);
    REQUIRE(small.graph.build(h200()).get_message() == "");
    std::regex const operation(
        R"(POINTWISE_MODE (\d+), POINTWISE_MATH_PREC \d+(?:, POINTWISE_AXIS (\d))?\s+OPERATION_POINTWISE #\d+:)"
        R"( OPERATION_POINTWISE_XDESC uid (\d+),(?:\s+OPERATION_POINTWISE_BDESC uid (\d+),)?)"
        R"((?:\s+OPERATION_POINTWISE_TDESC uid \d+,)?\s+OPERATION_POINTWISE_YDESC uid (\d+))");
    std::map<std::string, std::string> const names = {{"302", ">"}, {"303", ">="}, {"304", "<"}, {"305", "<="}};
    std::map<std::string, std::string> axes;  // of values by their uids
    std::string text;
    std::string const log = recorded.fake.log();
    for (std::sregex_iterator at(log.begin(), log.end(), operation), end; at != end; ++at) {
        std::smatch const& match = *at;
        axes[match[5]] = match[2].matched ? (match[2] == "2" ? "row" : "column") : axes[match[3]];
        auto const name = names.find(match[1]);
        if (name != names.end()) text += axes[match[3]] + ' ' + name->second + ' ' + axes[match[4]] + '\n';
    }
    return text;
}

graph::SDPA_attributes modified(detail::Score_modifier const& modifier) {
    return graph::SDPA_attributes().set_name("attention").set_score_mod(modifier);
}

}  // namespace

TEST_CASE("of several masks of the right edge all but the last look like arithmetic to the backend") {
    std::string const right = "row >= column\n", left = "column > row\n", hidden = "column <= row\n";
    CHECK(comparisons(modified(modifiers::causal_mask)) == right);
    CHECK(comparisons(modified(window)) == right + left);
    CHECK(comparisons(modified(modifiers::causal_mask).set_diagonal_band_right_bound(3)) == hidden + right);
    CHECK(comparisons(modified(modifiers::causal_mask).set_diagonal_band_left_bound(3)) == right + left);
    auto const twice = modifiers::chain(window, modifiers::causal_mask);
    CHECK(comparisons(modified(twice).set_diagonal_band_right_bound(3)) == hidden + left + hidden + right);
    // The distance of row and column is no edge to engines.
    std::string const distances = comparisons(modified(modifiers::dilated_window(2, 2)));
    CHECK(distances.find("column") == std::string::npos);
    CHECK(comparisons(modified(modifiers::dilated_window(2, 2)).set_causal_mask(true)) == distances + right);
}

TEST_CASE("the backend is not told of rows below columns, which would end the process") {
    CHECK(comparisons(modified(test::select_below)) == "column > row\n");
}

// Its columns are its row and numbers from memory, so that they look like rows.
TEST_CASE("columns of one query are not taken for rows") {
    CHECK(comparisons(modified(test::select_left)) == "column < row\n");
    CHECK(comparisons(modified(test::select_left), 1) == "row < row\n");
    CHECK(comparisons(modified(test::select_below), 1) == "row > row\n");
}

TEST_CASE("cudnn.s68: several masks of the left edge") {
    RecordedPlanning const recorded;
    auto const answer = [](graph::SDPA_attributes const& options) {
        return test::small_graph(options).graph.build(h200()).get_message();
    };
    std::string const beside_bound = answer(modified(window).set_diagonal_band_left_bound(3));
    CHECK(beside_bound.find("[cudnn.s68] node 'attention', tensor") != std::string::npos);
    CHECK(beside_bound.find("found 1 mask(s) of the left edge in the modifier, and a left bound") != std::string::npos);
    std::string const twice = answer(modified(modifiers::chain(window, window)));
    CHECK(twice.find("found 2 mask(s) of the left edge in the modifier, and no left bound") != std::string::npos);
    CHECK(answer(modified(window)) == "");
    CHECK(answer(graph::SDPA_attributes().set_diagonal_band_left_bound(3)) == "");
}

TEST_CASE("cudnn.s91: floating-point numbers in operations on integers") {
    RecordedPlanning const recorded;
    auto const answer = [](DataType_t compute, DataType_t type) {
        auto const add = [=](Graph_ptr const& graph, test::Tensor_ptr const& scores) {
            auto const numbers = graph->tensor(test::packed_tensor("numbers", 4, 1, 1).set_data_type(type));
            numbers->set_dim({1, 4, 1, 1});
            auto const step = [&](PointwiseMode_t mode) {
                return graph::Pointwise_attributes().set_mode(mode).set_compute_data_type(compute);
            };
            auto const row = graph->pointwise(scores, step(PointwiseMode_t::GEN_INDEX).set_axis(2));
            auto const sum = graph->pointwise(row, numbers, step(PointwiseMode_t::ADD));
            row->set_data_type(DataType_t::INT32), sum->set_data_type(compute);
            return graph->pointwise(scores, sum, graph::Pointwise_attributes().set_mode(PointwiseMode_t::MUL));
        };
        return test::small_graph(modified(add)).graph.build(h200()).get_message();
    };
    CHECK(answer(DataType_t::INT32, DataType_t::INT32) == "");
    CHECK(answer(DataType_t::FLOAT, DataType_t::FLOAT) == "");
    CHECK(answer(DataType_t::FLOAT, DataType_t::INT32) == "");
    std::string const refusal = answer(DataType_t::INT32, DataType_t::FLOAT);
    CHECK(
        refusal.find("[cudnn.s91] node 'attention', tensor 'score_mod': found 'numbers' of FLOAT in an operation that "
                     "computes in INT32 on compute capability 9.0 with cuDNN 9.19.0; expected") != std::string::npos);
}
