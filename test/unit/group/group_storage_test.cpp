// Stored plans of ranks: made for a rank that is only described, and loaded by the rank itself.
#include "unit/group/group_runs.h"

using namespace test;
using sdpa_graph::Group_way;

namespace {

using Bytes = std::vector<std::uint8_t>;

Group described(int rank, int ranks) {
    Group member;
    REQUIRE(Group::described(rank, ranks, member).is_good());
    return member;
}

Bytes stored_plan(WholeAttention const& whole, Layout const& layout, int rank, Group_options const& options) {
    RankPart part(whole, layout, rank);
    REQUIRE(part.build(described(rank, layout.ranks()), layout, options).get_message() == "");
    Bytes bytes;
    REQUIRE(part.graph.serialize(bytes).get_message() == "");
    return bytes;
}

cudnn_frontend::error_t load(RankPart& part, Group const& group, Layout const& layout, Group_options const& options,
                             Bytes const& bytes) {
    return part.graph.set_group(group, layout, options).deserialize(cudnnHandle_t(nullptr), bytes);
}

}  // namespace

TEST_CASE("a rank loads the plan that was stored for it, and computes what a built one does") {
    WholeAttention whole{.tokens = 45, .length = 40};
    whole.is_backward = GENERATE(false, true);
    Group_options const options =
        GENERATE(Group_options{Group_way::GATHER, 2, {}}, Group_options{Group_way::ALL_TO_ALL, 0, {}},
                 Group_options{Group_way::RING, 0, {}}, Group_options{});
    Layout const layout = Layout::head_tail(45, 2);
    std::vector<Bytes> plans;
    for (int rank = 0; rank < 2; ++rank) plans.push_back(stored_plan(whole, layout, rank, options));
    CHECK(plans[0] != plans[1]);
    auto const load_plan = [&](RankPart& part, Group const& member, int rank) {
        return load(part, member, layout, options, plans[static_cast<std::size_t>(rank)]);
    };
    CHECK(run_group(whole, layout, load_plan) == run_group(whole, layout, options));
}

TEST_CASE("a loaded plan of a rank has the name, the workspace and the bytes of the stored one") {
    Layout const layout = Layout::contiguous(24, 2);
    RankPart built({}, layout, 1), loaded({}, layout, 1);
    REQUIRE(built.graph.set_group(described(1, 2), layout).build(Target::cpu()).get_message() == "");
    Bytes bytes;
    REQUIRE(built.graph.serialize(bytes).get_message() == "");
    REQUIRE(load(loaded, described(1, 2), layout, {}, bytes).get_message() == "");
    std::string name, loaded_name;
    REQUIRE(built.graph.get_plan_name(name).is_good());
    REQUIRE(loaded.graph.get_plan_name(loaded_name).is_good());
    CHECK(loaded_name == name);
    CHECK(loaded.graph.get_workspace_size() == built.graph.get_workspace_size());
    Bytes again;
    REQUIRE(loaded.graph.serialize(again).get_message() == "");
    CHECK((again == bytes));
}

TEST_CASE("group.c28: stored plans of other ranks, groups, layouts, ways and stages") {
    Layout const layout = Layout::contiguous(24, 2), other_layout = Layout::head_tail(24, 2);
    Bytes const bytes = stored_plan({}, layout, 1, {Group_way::GATHER, 1, {}});
    auto const refusal = [&](int rank, Layout const& split, Group_options const& options) {
        RankPart part({}, layout, 1);
        return load(part, described(rank, split.ranks()), split, options, bytes).get_message();
    };
    CHECK(refusal(1, layout, {Group_way::GATHER, 1, {}}).empty());
    CHECK_THAT(refusal(0, layout, {Group_way::GATHER, 1, {}}),
               Catch::Contains("[group.c28]: found a stored plan of rank 1 of 2: gather(1) forward") &&
                   Catch::Contains("expected rank 0 of 2: gather(1) forward"));
    CHECK_THAT(refusal(1, other_layout, {Group_way::GATHER, 1, {}}),
               Catch::Contains("[group.c28]") && Catch::Contains("queries 0:0+12 1:12+12") &&
                   Catch::Contains("queries 0:0+6 1:6+12 0:18+6"));
    CHECK_THAT(refusal(1, layout, {Group_way::GATHER, 2, {}}), Catch::Contains("expected rank 1 of 2: gather(2)"));
    CHECK_THAT(refusal(1, layout, {Group_way::RING, 0, {}}), Catch::Contains("expected rank 1 of 2: ring"));
    // Three ranks, of which this one has as many tokens.
    CHECK_THAT(refusal(1, Layout::of({{{0, 6}}, {{12, 12}}, {{6, 6}}}), {Group_way::GATHER, 1, {}}),
               Catch::Contains("expected rank 1 of 3: gather(1)"));
    // A loaded graph is refused by the rules of built ones.
    CHECK_THAT(refusal(1, Layout::contiguous(26, 2), {}), Catch::Contains("[group.c04]"));
}

TEST_CASE("group.c28: a rank's plan without a group, and a plan of a whole attention with one") {
    Layout const layout = Layout::contiguous(24, 2);
    Graph whole;
    CHECK_THAT(whole.deserialize(cudnnHandle_t(nullptr), stored_plan({}, layout, 0, {})).get_message(),
               Catch::Contains("[group.c28]: found a stored plan of rank 0 of 2: ") &&
                   Catch::Contains("expected a plan of a whole attention. Try: call set_group() with that rank"));
    RankPart alone({}, layout, 0), part({}, layout, 0);
    Bytes bytes;
    REQUIRE(alone.graph.build(Target::cpu(1)).get_message() == "");
    REQUIRE(alone.graph.serialize(bytes).get_message() == "");
    CHECK_THAT(load(part, described(0, 2), layout, {}, bytes).get_message(),
               Catch::Contains("[group.c28]: found a stored plan of cpu; expected rank 0 of 2: "));
}
