// The form of 8-bit attention that passes give it.
#include "unit/cudnn/legal_forms.h"

#include "core/data_type.h"

#include "support/catch.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace test;
using Lines = std::vector<std::string>;

static bool has(Lines const& lines, std::string const& line) { return std::ranges::count(lines, line) == 1; }

TEST_CASE("Engines scale block-scaled probabilities unasked, and what these weigh back", "[passes]") {
    auto const implied = [](AttentionGraph const& graph) { return names_of_implied(legalized(graph)); };
    std::string const both = "probabilities -> narrow_probabilities, weighed_values -> O, ";
    CHECK(implied(AttentionGraph::forward().block_scaled()) == both);
    CHECK(implied(AttentionGraph::forward().block_scaled().stats().scale(0.5f)) == both);
    CHECK(implied(AttentionGraph::forward().fp8()) == "");
    CHECK(implied(AttentionGraph::forward().dropout(0.25f)) == "");
    CHECK(implied(AttentionGraph::backward().block_scaled()) == "");
}

TEST_CASE("8-bit scores are multiplied by 1 where there is no scale, and backward's gradients of them too",
          "[passes]") {
    ir::OpGraph const forward = legal(AttentionGraph::forward().fp8());
    CHECK(has(steps(forward), "unscaled_scores = MATMUL(Q, K^T)"));
    CHECK(has(steps(forward), "scores = MUL(unscaled_scores, scale)"));
    CHECK(has(steps(forward), "scores_by_descale_q = MUL(scores, descale_q)"));
    CHECK(core::to_double(find_value(forward, "scale").constant) == 1.0);
    Lines const backward = steps(legal(AttentionGraph::backward().fp8()));
    CHECK(has(backward, "scores = MUL(unscaled_scores, scale)"));
    CHECK(has(backward, "scaled_score_gradients = MUL(score_gradients, scale)"));
    CHECK(has(backward, "amax_dP = REDUCE_AMAX(scaled_score_gradients)"));
    CHECK(has(backward, "narrow_score_gradients:FP8_E5M2 = MUL(scaled_score_gradients, scale_dP)"));
    Lines const blocks = steps(legal(AttentionGraph::forward().block_scaled()));
    CHECK(has(blocks, "scores = MUL(unscaled_scores, scale)"));
    for (AttentionGraph graph : {AttentionGraph::forward(), AttentionGraph::backward()}) {
        CHECK(ir::to_text(legal(AttentionGraph(graph).fp8().scale(0.5f))).find("unscaled") == std::string::npos);
        CHECK(ir::to_text(legal(AttentionGraph(graph).block_scaled().scale(0.5f))).find("unscaled") ==
              std::string::npos);
        CHECK(ir::to_text(legal(graph)).find("unscaled") == std::string::npos);
    }
}
