// The terms of a score modifier that depend on the distance between a query and a key alone: found, and compiled.
#include "api/graph/graph_impl.h"
#include "kernels/attention/attention_graph.h"
#include "kernels/attention/attention_launch.h"
#include "kernels/attention/distance_steps.h"
#include "nodes/validation/validate.h"
#include "support/catch.h"
#include "support/modifiers/modifier_problem.h"

#include <algorithm>
#include <map>
#include <regex>
#include <string>

using namespace sdpa_test;
namespace fe = cudnn_frontend;
namespace kernels = cudnn_frontend::kernels;

namespace {

kernels::AttentionKernelProblem problem_of(NamedModifier const& modifier, bool is_backward, std::int64_t columns) {
    ModifierProblem made(&modifier, fe::DataType_t::BFLOAT16, {.columns = columns});
    fe::graph::Graph const graph = is_backward ? made.backward() : made.forward();
    auto const valid = fe::nodes::validate(fe::detail::Graph_access::snapshot(graph).spec).graph;
    return kernels::read_attention(*valid, {90, 132}).value().problem;
}

int terms_of(NamedModifier const& modifier) {
    std::string const text = problem_of(modifier, false, 64).modifier.text;
    std::smatch found;
    REQUIRE(std::regex_search(text, found, std::regex("kDistanceTerms = (\\d+);")));
    return std::stoi(found[1]);
}

}  // namespace

TEST_CASE("what costs much and depends on the distance alone is a term of it") {
    std::map<std::string, int> const expected{{"T5 buckets", 1},     {"KERPLE", 1},       {"cosine of the distance", 1},
                                              {"dilated window", 1}, {"nested terms", 2}, {"factor within tensors", 1}};
    std::map<std::string, int> found;
    for (auto const& modifiers : {named_modifiers(), distance_modifiers()}) {
        for (NamedModifier const& modifier : modifiers) {
            if (int const terms = terms_of(modifier); terms > 0) found[modifier.name] = terms;
        }
    }
    CHECK(found == expected);
}

TEST_CASE("numbers that are cut off do not depend on the distance alone") {
    using From = fe::ir::RegionOperand::From;
    using enum fe::PointwiseMode_t;
    // The cosine of the difference of query and key, both of that type first.
    auto const terms_with = [](DataType_t index_type, DataType_t type) {
        fe::ir::ScoreRegion region;
        auto const step = [](std::int32_t index) { return fe::ir::RegionOperand{From::Step, index}; };
        region.steps = {{{.mode = GEN_INDEX, .axis = 2}, index_type, {}},
                        {{.mode = GEN_INDEX, .axis = 3}, index_type, {}},
                        {{.mode = IDENTITY}, type, {step(0)}},
                        {{.mode = IDENTITY}, type, {step(1)}},
                        {{.mode = SUB}, DataType_t::FLOAT, {step(2), step(3)}},
                        {{.mode = COS}, DataType_t::FLOAT, {step(4)}},
                        {{.mode = ADD}, DataType_t::FLOAT, {{From::Score}, step(5)}}};
        region.score = step(6);
        return kernels::distance_steps(fe::ir::OpGraph(), region).size();
    };
    CHECK(terms_with(DataType_t::INT32, DataType_t::FLOAT) == 1);
    CHECK(terms_with(DataType_t::INT32, DataType_t::INT64) == 1);
    CHECK(terms_with(DataType_t::INT32, DataType_t::BOOLEAN) == 0);
    CHECK(terms_with(DataType_t::FLOAT, DataType_t::INT32) == 0);
    CHECK(terms_with(DataType_t::BOOLEAN, DataType_t::FLOAT) == 0);
}

TEST_CASE("a term of the distance that another one reads is computed for it") {
    auto const all = distance_modifiers();
    auto const nested = std::ranges::find(all, std::string("nested terms"), &NamedModifier::name);
    REQUIRE(nested != all.end());
    std::string const text = problem_of(*nested, false, 64).modifier.text;
    std::size_t const begin = text.find("distance_terms("), end = text.find("modified_score(");
    REQUIRE(begin < end);
    CHECK(text.substr(begin, end - begin).find("of_distance") == std::string::npos);
    CHECK(text.find("at.of_distance.numbers[0]", end) != std::string::npos);
    CHECK(text.find("at.of_distance.numbers[1]", end) != std::string::npos);
}

TEST_CASE("NVRTC compiles kernels with terms of distances without a spilled register") {
    if (kernels::check_compiler().is_bad()) return;
    auto const all = named_modifiers();
    auto const buckets = std::ranges::find(all, std::string("T5 buckets"), &NamedModifier::name);
    REQUIRE(buckets != all.end());
    for (std::int64_t const columns : {64, 128}) {
        for (bool const is_backward : {false, true}) {
            auto const work = is_backward ? kernels::AttentionWork::Gradients : kernels::AttentionWork::Forward;
            auto const log = kernels::compiler_log(code_of(problem_of(*buckets, is_backward, columns), work));
            REQUIRE(log.is_good());
            INFO(log.value());
            CHECK_FALSE(std::regex_search(log.value(), std::regex("[1-9]\\d* bytes spill stores")));
        }
    }
}
