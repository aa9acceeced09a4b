// Programs stored and loaded on the CPU targets.
#include "support/catch.h"
#include "support/program_graphs.h"
#include "support/small_graph.h"

using namespace cudnn_frontend;
using test::Graph;
using test::ProgramGraph;

namespace {

using Bytes = std::vector<std::uint8_t>;

ProgramGraph built(ProgramGraph all, Rewrite_t rewrite, Target const& target) {
    all.graph.set_rewrites({rewrite});
    REQUIRE(all.graph.build(target).get_message() == "");
    return all;
}

Bytes bytes_of(Graph const& graph) {
    Bytes bytes;
    REQUIRE(graph.serialize(bytes).get_message() == "");
    return bytes;
}

void check_round_trip(ProgramGraph all, char const* start_of_name) {
    Bytes const bytes = bytes_of(all.graph);
    Graph loaded;
    loaded.set_rewrites(RewritePolicy_t::OFF);  // the plan is stored, not the settings that led to it
    REQUIRE(loaded.deserialize(nullptr, bytes).get_message() == "");
    std::string name, loaded_name;
    REQUIRE(all.graph.get_plan_name(name).is_good());
    REQUIRE(loaded.get_plan_name(loaded_name).is_good());
    CHECK(name.starts_with(start_of_name));
    CHECK(loaded_name == name);
    CHECK(loaded.get_workspace_size() == all.graph.get_workspace_size());
    CHECK(bytes_of(loaded) == bytes);

    auto const pack = all.pack();
    auto workspace = test::workspace_of(all.graph);
    REQUIRE(all.graph.execute(nullptr, pack, workspace.data()).get_message() == "");
    auto const wanted = all.take_outputs();
    REQUIRE(loaded.execute(nullptr, pack, workspace.data()).get_message() == "");
    CHECK(all.take_outputs() == wanted);
}

}  // namespace

TEST_CASE("a stored program comes back with its name, its workspace and its numbers") {
    for (Target const& target : {Target::cpu(), Target::reference()}) {
        check_round_trip(built(test::few_queries_graph(), Rewrite_t::FEW_QUERIES, target), "program few_queries(2): ");
        check_round_trip(built(test::slices_graph(), Rewrite_t::SLICES, target), "program slices(2): ");
    }
}

TEST_CASE("a stored program that was cut or changed is refused, and what was there stays") {
    ProgramGraph all = built(test::few_queries_graph(), Rewrite_t::FEW_QUERIES, Target::cpu());
    Bytes const bytes = bytes_of(all.graph);
    Graph loaded;
    REQUIRE(loaded.deserialize(nullptr, bytes).get_message() == "");
    for (std::size_t at = 0; at < bytes.size(); at += 7) {
        Bytes changed = bytes;
        changed[at] ^= 0x20;
        CHECK(loaded.deserialize(nullptr, changed).get_message().find("the bytes are no stored plan") == 0);
        Bytes const cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
        CHECK(loaded.deserialize(nullptr, cut).get_message().find("the bytes are no stored plan") == 0);
    }
    CHECK(bytes_of(loaded) == bytes);
}
