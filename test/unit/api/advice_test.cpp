// Advice through the public API: dependence on how options were set, text, JSON and the log.
#include <cudnn_frontend/graph.h>

#include "support/catch.h"
#include "support/listener.h"
#include "support/small_graph.h"

#include <string>

using namespace cudnn_frontend;
using graph::SDPA_attributes;
using sdpa_test::Listener;
using test::small_graph;

namespace {

SDPA_attributes scaled() { return SDPA_attributes().set_name("attention").set_attn_scale(0.35f); }

void expect_advice(SDPA_attributes const& options, std::string const& id, std::string const& found,
                   std::string const& effect, std::string const& fix) {
    Advice const advice = small_graph(options).graph.advice();
    INFO(advice);
    REQUIRE(advice.remarks().size() == 1);
    CHECK(advice.remarks()[0].where.rule == id);
    CHECK(advice.remarks()[0].found == found);
    CHECK(advice.remarks()[0].effect == effect);
    CHECK(advice.remarks()[0].fix == fix);
}

void expect_none(SDPA_attributes const& options) {
    Advice const advice = small_graph(options).graph.advice();
    INFO(advice);
    CHECK(advice.empty());
}

std::size_t count(std::string const& text, std::string const& part) {
    std::size_t times = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++times;
    return times;
}

}  // namespace

TEST_CASE("advice.a05: both diagonal alignments") {
    std::string const effect = "the last one counts";
    std::string const fix =
        "leave out one call: set_causal_mask() means TOP_LEFT, set_causal_mask_bottom_right() BOTTOM_RIGHT";
    expect_advice(scaled().set_causal_mask(true).set_causal_mask_bottom_right(true), "advice.a05",
                  "the diagonal alignment TOP_LEFT, and then BOTTOM_RIGHT", effect, fix);
    auto options = scaled().set_diagonal_alignment(DiagonalAlignment_t::BOTTOM_RIGHT);
    expect_advice(options.set_causal_mask(true), "advice.a05", "the diagonal alignment BOTTOM_RIGHT, and then TOP_LEFT",
                  effect, fix);
    expect_none(scaled().set_causal_mask(true).set_causal_mask(true));
    expect_none(scaled().set_causal_mask(true).set_causal_mask_bottom_right(false));
    expect_none(scaled().set_causal_mask_bottom_right(true));
}

TEST_CASE("advice.a06: a sliding window that sees the future") {
    expect_advice(scaled().set_sliding_window_length(3), "advice.a06",
                  "set_sliding_window_length(3) and no right bound",
                  "a query sees all later keys in addition to those of its window",
                  "call set_causal_mask(true) too; set_diagonal_band_left_bound() if later keys are to be seen");
    expect_none(scaled().set_sliding_window_length(3).set_causal_mask(true));
    expect_none(scaled().set_sliding_window_length(3).set_diagonal_band_right_bound(2));
    expect_none(scaled().set_diagonal_band_left_bound(3));
}

TEST_CASE("advice.a07: ALiBi for keys behind the query's own") {
    expect_advice(scaled().set_alibi_mask(true), "advice.a07", "the ALiBi mask and no right bound",
                  "the further a key lies behind the query, the more its score is raised",
                  "call set_causal_mask(true) too; for both directions pass -slope * |row - column| as the bias");
    expect_none(scaled().set_alibi_mask(true).set_causal_mask(true));
}

TEST_CASE("advice as text and as JSON; none on a graph that is not valid") {
    auto small = small_graph(SDPA_attributes().set_name("attention"));
    Advice const advice = small.graph.advice();
    CHECK(
        advice.to_text() ==
        "[advice.a01] node 'attention': found no attention scale: scores stay as they are, since the scale is 1 where "
        "none is set. Try: call set_attn_scale(0.35355338), 1 over the square root of the head dim 8; "
        "set_attn_scale(1) if that is meant.\n");
    CHECK(advice.to_json() == R"([
  {
    "rule": "advice.a01",
    "node": "attention",
    "tensor": "",
    "others": [],
    "found": "no attention scale",
    "effect": "scores stay as they are, since the scale is 1 where none is set",
    "fix": "call set_attn_scale(0.35355338), 1 over the square root of the head dim 8; set_attn_scale(1) if that is meant"
  }
]
)");
    CHECK(Advice().to_json() == "[]\n");
    CHECK(small.o->get_dim().empty());  // advice() fills in nothing
    small.q->set_alignment(3);
    CHECK(small.graph.advice().empty());
}

TEST_CASE("the log has advice once for each build, while it is on") {
    auto small = small_graph(SDPA_attributes().set_name("attention"));
    small.graph.set_name("small");
    std::string text;
    {
        Listener const listener;
        REQUIRE(small.graph.build(Target::cpu()).is_good());
        text = listener.text();
    }
    CHECK(count(text, "[advice.a01]") == 1);
    CHECK(text.find("[cudnn_frontend] advice for graph 'small': [advice.a01] node 'attention': found no attention "
                    "scale: scores stay") != std::string::npos);
    auto quiet = small_graph(scaled());
    Listener const listener;
    REQUIRE(quiet.graph.build(Target::cpu()).is_good());
    CHECK(count(listener.text(), "advice") == 0);
}
