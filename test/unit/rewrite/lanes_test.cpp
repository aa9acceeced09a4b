// Steps of the side lane: whatever the sizes, they have no element in common with the steps before them that either
// of them writes.
#include "core/data_type.h"
#include "rewrite/program.h"
#include "rewrite/rewrites/rewrites.h"
#include "unit/rewrite/attention_graphs.h"

#include <map>
#include <set>

using namespace test;
using rewrite::Lane;
using rewrite::Place;

namespace {

// Addresses in each tensor and piece of scratch.
using Bytes = std::map<std::pair<Place::Of, std::size_t>, std::set<std::int64_t>>;

struct Accesses {
    Bytes read, written;
};

void add(rewrite::View const& view, Bytes& all) {
    std::set<std::int64_t>& bytes = all[{view.place.of, view.place.index}];
    std::int64_t elements = 1;
    for (std::int64_t const size : view.dim) elements *= size;
    for (std::int64_t i = 0; i < elements; ++i) {
        std::int64_t rest = i, at = 0;
        for (std::size_t dim = view.dim.size(); dim-- > 0; rest /= view.dim[dim]) {
            at += rest % view.dim[dim] * view.stride[dim];
        }
        bytes.insert(view.place.offset + at * cudnn_frontend::core::size_of(view.type));
    }
}

// Sums may read the tensors that they write, which count as written.
Accesses accesses_of(rewrite::Step const& step) {
    Accesses all;
    for (rewrite::StepOperand const& operand : rewrite::operands_of(step)) {
        add(operand.view, operand.is_written ? all.written : all.read);
    }
    return all;
}

bool overlap(Bytes const& a, Bytes const& b) {
    for (auto const& [memory, bytes] : a) {
        auto const other = b.find(memory);
        if (other == b.end()) continue;
        for (std::int64_t const byte : bytes) {
            if (other->second.contains(byte)) return true;
        }
    }
    return false;
}

Lane lane_of(rewrite::Step const& step) {
    auto const* attend = std::get_if<rewrite::Attend>(&step);
    return attend != nullptr ? attend->lane : Lane::Main;
}

bool depend(Accesses const& a, Accesses const& b) {
    return overlap(a.written, b.written) || overlap(a.written, b.read) || overlap(a.read, b.written);
}

struct Counts {
    int side_steps = 0, waiting_steps = 0;
};

// Counts steps of the side lane, and those of the main lane behind them that depend on one.
void check_lanes(rewrite::Program const& program, Counts& counts) {
    std::vector<Accesses> before;
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
        Accesses const own = accesses_of(program.steps[i]);
        bool const is_aside = lane_of(program.steps[i]) == Lane::Side;
        INFO(program.name << ", step " << i + 1);
        if (is_aside) CHECK(i > 0);
        counts.side_steps += is_aside;
        for (std::size_t j = 0; j < i; ++j) {
            bool const depends = depend(own, before[j]);
            if (is_aside) CHECK(!depends);
            else counts.waiting_steps += depends && lane_of(program.steps[j]) == Lane::Side;
        }
        before.push_back(own);
    }
}

}  // namespace

TEST_CASE("bands: borders share no element with the steps before them, and sums depend on them") {
    Counts counts;
    for (std::int64_t const queries : {1, 3, 8, 13}) {
        for (std::int64_t left = 1; left < 12; left += 2) {
            for (std::int64_t const right : {0, 1, 2, 5}) {
                for (auto const alignment : {DiagonalAlignment_t::TOP_LEFT, DiagonalAlignment_t::BOTTOM_RIGHT}) {
                    TestGraph graph = backward_graph({.batches = 2, .queries = queries, .columns = 8});
                    graph.attention_options().left_bound = left;
                    graph.attention_options().right_bound = right;
                    graph.attention_options().diagonal_alignment = alignment;
                    if (!validate(graph).graph) continue;
                    auto const program = rewrite::bands(*Rewritable(graph));
                    if (program.is_good()) check_lanes(program.value(), counts);
                }
            }
        }
    }
    CHECK(counts.side_steps > 50);
    CHECK(counts.waiting_steps >= counts.side_steps);  // one sum for the keys, two for the queries
}

TEST_CASE("few queries: the keys under a causal mask share no element with the steps before them but the merge's") {
    Counts counts;
    for (std::int64_t const queries : {1, 2, 5}) {
        for (std::int64_t const keys : {9, 20, 64, 77}) {
            for (std::int64_t const key_heads : {1, 2, 4}) {
                for (std::int64_t const splits : {1, 2, 3}) {
                    std::int64_t const batches = 1 + (queries + keys) % 2;
                    TestGraph graph =
                        forward_graph({.batches = batches, .key_heads = key_heads, .queries = queries, .keys = keys});
                    graph.attention_options().right_bound = 0;
                    graph.attention_options().diagonal_alignment = DiagonalAlignment_t::BOTTOM_RIGHT;
                    auto const program = rewrite::few_queries(*Rewritable(graph), splits);
                    if (program.is_good()) check_lanes(program.value(), counts);
                }
            }
        }
    }
    CHECK(counts.side_steps > 50);
    CHECK(counts.waiting_steps == counts.side_steps);
}

TEST_CASE("neighborhood_band: borders share no element with the steps before them, and sums depend on them") {
    for (NodeKind const kind : {NodeKind::NeighborhoodForward, NodeKind::NeighborhoodBackward}) {
        Counts counts;
        for (std::int64_t const tokens : {9, 12, 21}) {
            for (std::int64_t const kernel : {2, 3, 4, 7}) {
                for (std::int64_t const dilation : {1, 2, 3}) {
                    if (kernel * dilation > tokens) continue;
                    Validation const validation =
                        validate(line_graph(kind, {.tokens = tokens, .kernel = kernel, .dilation = dilation}));
                    REQUIRE(validation.report.to_text() == "");
                    auto const program = rewrite::neighborhood_band(*validation.graph);
                    REQUIRE(program.error().get_message() == "");
                    check_lanes(program.value(), counts);
                }
            }
        }
        CHECK(counts.side_steps > 30);
        CHECK((counts.waiting_steps > 30) == (kind == NodeKind::NeighborhoodBackward));
    }
}
