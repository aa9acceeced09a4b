// Packs with memory for virtual results.
#include <cudnn_frontend/graph.h>

#include "support/catch.h"
#include "support/small_graph.h"

#include <map>
#include <unordered_map>
#include <vector>

using namespace cudnn_frontend;
using test::SmallGraph;

namespace {

using PackByUid = std::map<std::int64_t, void*>;
using PackByTensor = std::unordered_map<test::Tensor_ptr, void*>;

// Attention that computes Stats, which are virtual, and memory for everything that a program may pass.
struct Fixture {
    SmallGraph small = test::small_graph(graph::SDPA_attributes().set_name("attention").set_generate_stats(true));
    std::vector<float> q = std::vector<float>(384, 0.5f), k = std::vector<float>(320, 0.5f), v = k;
    std::vector<float> o = std::vector<float>(384, -1.0f), stats = std::vector<float>(48, -1.0f);
    std::vector<double> workspace;

    explicit Fixture(Target const& target) {
        small.graph.set_override_shape_enabled(true);
        small.stats->set_output(false).set_uid(60);
        build(target);
    }

    void build(Target const& target) {
        REQUIRE(small.graph.build(target).get_message() == "");
        workspace = test::workspace_of(small.graph);
    }

    PackByTensor by_tensor() {
        return {{small.q, q.data()},
                {small.k, k.data()},
                {small.v, v.data()},
                {small.o, o.data()},
                {small.stats, stats.data()}};
    }
    PackByUid by_uid() {
        PackByUid pack;
        for (auto const& [tensor, pointer] : by_tensor()) pack[tensor->get_uid()] = pointer;
        return pack;
    }

    bool is_untouched() const { return o == std::vector<float>(384, -1.0f) && stats == std::vector<float>(48, -1.0f); }
};

std::string refusal_of(std::string const& name, std::int64_t uid) {
    return "[run.r06] tensor '" + name + "': found memory for uid " + std::to_string(uid) +
           ", which is virtual, so that nothing would be written to it; expected no entry in the pack. Try: call "
           "set_output(true) on it before the graph is built, or remove the entry.";
}

template <class Pack>
void check_refused(Fixture& fixture, Pack const& pack, std::string const& text) {
    graph::Graph const& graph = fixture.small.graph;
    void* const workspace = fixture.workspace.data();
    std::int64_t const q = fixture.small.q->get_uid(), o = fixture.small.o->get_uid();
    std::vector<std::vector<std::int64_t>> const dims(2, {2, 4, 1, 8}), strides(2, {192, 48, 8, 1});
    for (error_object const& error :
         {graph.execute(nullptr, pack, workspace), graph.execute_plan_at_index(nullptr, pack, workspace, 0),
          graph.execute(nullptr, pack, workspace, {q, o}, dims, strides)}) {
        CHECK(error.get_code() == error_code_t::INVALID_VARIANT_PACK);
        CHECK(error.where.rule == "run.r06");
        CHECK(error.get_message() == text);
        CHECK(fixture.is_untouched());
    }
}

}  // namespace

TEST_CASE("memory for a virtual result is refused with the call that is missing") {
    for (Target const& target : {Target::cpu(), Target::reference()}) {
        CAPTURE(to_string(target.kind()));
        Fixture fixture(target);
        std::string const text = refusal_of("attention::Stats", fixture.small.stats->get_uid());
        check_refused(fixture, fixture.by_tensor(), text);
        check_refused(fixture, fixture.by_uid(), text);
        std::vector<void*> sorted;
        for (auto const& entry : fixture.by_uid()) sorted.push_back(entry.second);
        auto const error = fixture.small.graph.execute(nullptr, sorted.data(), 5, fixture.workspace.data());
        CHECK(error.get_message() ==
              "[run.r06]: found 5 pointers; expected 4 in the order of get_variant_pack_uids_sorted().");
        CHECK(fixture.is_untouched());
        // Only that call was missing.
        fixture.small.stats->set_output(true);
        fixture.build(target);
        auto const pack = fixture.by_tensor();
        CHECK(fixture.small.graph.execute(nullptr, pack, fixture.workspace.data()).get_message() == "");
        CHECK(fixture.stats[47] > 0.0f);
    }
}

TEST_CASE("each result with memory that no node gives out is named, and others are not") {
    Fixture fixture(Target::cpu());
    auto const product =
        fixture.small.graph.pointwise(fixture.small.o, fixture.small.o,
                                      graph::Pointwise_attributes().set_name("square").set_mode(PointwiseMode_t::MUL));
    fixture.small.o->set_output(false).set_uid(70);
    product->set_output(true);
    fixture.build(Target::cpu());
    PackByUid pack = fixture.by_uid();
    pack[product->get_uid()] = fixture.o.data();
    auto const run = [&] { return fixture.small.graph.execute(nullptr, pack, fixture.workspace.data()).get_message(); };
    std::int64_t const stats = fixture.small.stats->get_uid();
    CHECK(run() == "2 findings:\n" + refusal_of("attention::Stats", stats) + "\n" + refusal_of("attention::O", 70));
    CHECK(fixture.is_untouched());
    // A null pointer is no memory.
    pack[stats] = nullptr;
    CHECK(run() == refusal_of("attention::O", 70));
    pack.erase(70);
    pack[987654] = fixture.stats.data();  // not a tensor's uid
    CHECK(run() == "");
    CHECK(fixture.o[0] > 0.0f);
    CHECK(fixture.stats == std::vector<float>(48, -1.0f));
}

TEST_CASE("a number that is a virtual result's automatic uid by chance is no fault in a pack, its tensor is") {
    Fixture fixture(Target::cpu());
    fixture.small.stats->clear_uid();
    fixture.build(Target::cpu());
    std::int64_t const automatic = fixture.small.stats->get_uid();
    auto const run = [&](auto const& pack) {
        return fixture.small.graph.execute(nullptr, pack, fixture.workspace.data()).get_message();
    };
    CHECK(run(fixture.by_tensor()) == refusal_of("attention::Stats", automatic));
    PackByUid const pack = fixture.by_uid();
    REQUIRE(pack.count(automatic) == 1);
    CHECK(run(pack) == "");
    CHECK(fixture.stats == std::vector<float>(48, -1.0f));
}

TEST_CASE("run.r06: a tensor that a pack names twice with two pointers is refused") {
    Fixture fixture(Target::cpu());
    std::vector<std::pair<test::Tensor_ptr, void*>> pack;
    for (auto const& [tensor, pointer] : fixture.by_tensor())
        if (tensor != fixture.small.stats) pack.emplace_back(tensor, pointer);
    auto const copy = std::make_shared<graph::Tensor_attributes>(*fixture.small.v);
    pack.emplace_back(copy, fixture.v.data());
    CHECK(fixture.small.graph.execute(pack, fixture.workspace.data()).get_message() == "");
    pack.back().second = fixture.k.data();
    std::string const error = fixture.small.graph.execute(pack, fixture.workspace.data()).get_message();
    INFO(error);
    CHECK(error.find("[run.r06] tensor 'V': found two entries for uid ") != error.npos);
}

TEST_CASE("run.r08: a workspace that shares memory with a tensor is refused, and nothing is written") {
    Fixture fixture(Target::cpu());
    std::int64_t const bytes = fixture.small.graph.get_workspace_size();
    REQUIRE(bytes > 0);
    auto pack = fixture.by_uid();
    pack.erase(60);
    std::vector<double> arena(fixture.workspace.size() + 384);
    std::int64_t const uids[] = {fixture.small.q->get_uid(), fixture.small.o->get_uid()};
    for (std::int64_t const uid : uids) {
        for (std::int64_t const begin : {std::int64_t{0}, bytes / 8 - 2}) {  // in doubles: both ends of the workspace
            auto shared = pack;
            shared[uid] = arena.data() + begin;
            std::string const error = fixture.small.graph.execute(shared, arena.data()).get_message();
            INFO(error);
            CHECK(error.find("[run.r08]") != error.npos);
            CHECK(error.find("found a workspace of " + std::to_string(bytes) + " bytes at 0x") != error.npos);
            CHECK(arena == std::vector<double>(arena.size()));
        }
        auto behind = pack;
        behind[uid] = arena.data() + (bytes + 7) / 8;
        CHECK(fixture.small.graph.execute(behind, arena.data()).get_message() == "");
        std::fill(arena.begin(), arena.end(), 0.0);
    }
}
