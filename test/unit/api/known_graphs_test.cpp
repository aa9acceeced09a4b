// Graphs that were built before are neither validated nor proposed again, and users notice no difference.
#include "api/graph/description.h"
#include "cpu/cpu_backend.h"
#include "plan/known_plans.h"

#include <cudnn_frontend/process.h>
#include <cudnn_frontend/runtime.h>

#include "support/catch.h"
#include "support/small_graph.h"

#include <functional>
#include <thread>
#include <unordered_map>

using namespace cudnn_frontend;
using test::small_graph;
using test::SmallGraph;

namespace {

constexpr std::size_t kUsual = std::size_t{256} << 20;

// Sets how many bytes are kept, for one test; none are at first.
struct Kept {
    explicit Kept(std::size_t most = kUsual) {
        runtime::forget_graphs();
        runtime::set_kept_bytes(most);
    }
    ~Kept() {
        runtime::set_kept_bytes(kUsual);
        runtime::forget_graphs();
    }
};

// The CPU's backend, which counts.
class CountingBackend final : public plan::Backend {
   public:
    char const* name() const override { return "counting"; }
    bool serves(Target const&) const override { return true; }
    Result<std::shared_ptr<plan::Proposal const>> propose(plan::PlanningInput const& input) const override {
        ++proposals;
        return cpu::backend().propose(input);
    }
    std::optional<std::string> circumstances(Target const&, plan::Settings const&) const override {
        if (wants_each) return std::nullopt;
        return tells;
    }

    mutable int proposals = 0;
    bool wants_each = false;
    std::string tells = "a device";
};

// A look-up for a graph that is described anew.
struct Lookup {
    plan::Backends backends;

    nodes::CheckedGraphs::Found check(SmallGraph const& small) const {
        auto found = nodes::check(api::Description(*detail::Graph_access::parts(small.graph)).copy());
        REQUIRE(found.error().get_message() == "");
        return found.value();
    }
    bool is_known(plan::Settings const& settings = {}) const {
        auto const found =
            plan::propose_known(nodes::graph_of(check(small_graph()).object), Target::cpu(), settings, backends);
        REQUIRE(found.error().get_message() == "");
        return found.value().is_known;
    }
};

// A tensor's properties that a user can read.
std::string text_of(graph::Tensor_attributes const& tensor) {
    std::string text = tensor.get_name() + " uid " + std::to_string(tensor.get_uid()) + " type " +
                       std::to_string(static_cast<int>(tensor.get_data_type()));
    for (auto const& list : {tensor.get_dim(), tensor.get_stride()}) {
        text += ":";
        for (std::int64_t const size : list) text += " " + std::to_string(size);
    }
    return text;
}

std::string text_of(SmallGraph const& small) {
    std::string text;
    for (auto const& tensor : {small.q, small.k, small.v, small.o, small.stats}) {
        if (tensor) text += text_of(*tensor) + "\n";
    }
    return text;
}

SmallGraph graph_with_stats() { return small_graph(test::SDPA_attributes().set_generate_stats(true)); }

}  // namespace

TEST_CASE("a known graph is validated once, and proposed once for each of its circumstances") {
    Kept const kept;
    CountingBackend backend;
    Lookup const lookup{{&backend}};
    auto const first = lookup.check(small_graph());
    CHECK_FALSE(first.is_known);
    auto const again = lookup.check(small_graph());
    CHECK(again.is_known);
    CHECK(again.object == first.object);
    CHECK_FALSE(lookup.is_known());
    CHECK(lookup.is_known());
    CHECK(backend.proposals == 1);
    plan::Settings settings;
    settings.filters.largest_workspace = 1;  // no part of the proposals
    CHECK(lookup.is_known(settings));
    std::function<void(plan::Settings&)> const changes[] = {
        [](plan::Settings& changed) { changed.rewrites.policy = RewritePolicy_t::OFF; },
        [](plan::Settings& changed) { changed.slices_for_workspace = true; },
        [](plan::Settings& changed) { changed.shape_policy = ShapePolicy_t::CLASSES; },
    };
    for (auto const& change : changes) {
        plan::Settings changed;
        change(changed);
        CHECK_FALSE(lookup.is_known(changed));
        CHECK(lookup.is_known(changed));
    }
    backend.tells = "another device";
    CHECK_FALSE(lookup.is_known());
    backend.tells = "a device";
    CountingBackend other;
    CHECK_FALSE(Lookup{{&other}}.is_known());
    CHECK(lookup.is_known());
    CHECK(backend.proposals == 5);
    backend.wants_each = true;
    CHECK_FALSE(lookup.is_known());
    CHECK(backend.proposals == 6);
    backend.wants_each = false;
    plan::forget_plans(first.object->graph);
    CHECK_FALSE(lookup.is_known());
    CHECK(lookup.check(small_graph()).is_known);
}

TEST_CASE("a graph of which anything differs is another one, names and the sign of zero too") {
    Kept const kept;
    Lookup const lookup{{}};
    auto const with_scale = [](float scale) {
        return small_graph(test::SDPA_attributes().set_name("attention").set_attn_scale(scale));
    };
    lookup.check(small_graph());
    lookup.check(with_scale(0.0f));
    CHECK_FALSE(lookup.check(with_scale(-0.0f)).is_known);
    std::function<void(SmallGraph&)> const changes[] = {
        [](SmallGraph& small) { small.graph.set_name("another"); },
        [](SmallGraph& small) { small.q->set_name("queries"); },
        [](SmallGraph& small) { small.q->set_uid(9); },
        [](SmallGraph& small) {
            small.q->set_stride({192, 8, 32, 1});
        },
        [](SmallGraph& small) { REQUIRE(small.graph.validate().is_good()); },  // from now on it has automatic uids
    };
    for (auto const& change : changes) {
        SmallGraph small = small_graph();
        change(small);
        CHECK_FALSE(lookup.check(small).is_known);
        CHECK(lookup.check(small).is_known);
    }
    CHECK(lookup.check(small_graph()).is_known);
}

TEST_CASE("a known graph's tensors are filled as validation fills them, and its plan tells the same") {
    auto const build = [](std::size_t kept) {
        runtime::set_kept_bytes(kept);
        SmallGraph small = graph_with_stats();
        REQUIRE(small.graph.build(Target::cpu()).get_message() == "");
        std::string json, name;
        REQUIRE(small.graph.serialize(json).is_good());
        REQUIRE(small.graph.get_plan_name(name).is_good());
        return text_of(small) + json + name + std::to_string(small.graph.get_workspace_size());
    };
    Kept const kept;
    std::string const anew = build(0), first = build(kUsual), again = build(kUsual);
    CHECK(anew.find("uid 5 type") != std::string::npos);
    CHECK(first == anew);
    CHECK(again == anew);
}

TEST_CASE("a graph that is changed after it was built is seen as it is") {
    Kept const kept;
    SmallGraph small = graph_with_stats();
    REQUIRE(small.graph.build(Target::cpu()).get_message() == "");
    small.q->set_dim({2, 4, 5, 8}).set_stride({160, 40, 8, 1});
    REQUIRE(small.graph.build(Target::cpu()).get_message() == "");
    CHECK(small.stats->get_dim() == std::vector<std::int64_t>{2, 4, 5, 1});
    small.q->set_dim({2, 4, 5, 9}).set_stride({180, 45, 9, 1});
    SmallGraph wrong = graph_with_stats();
    wrong.q->set_dim({2, 4, 5, 9}).set_stride({180, 45, 9, 1});
    auto const error = small.graph.build(Target::cpu());
    CHECK(error.get_message().find("[sdpa_fwd.c") == 0);
    CHECK(error.get_message() == wrong.graph.build(Target::cpu()).get_message());
    CHECK(small.graph.get_execution_plan_count() == 0);
}

TEST_CASE("plans of a known graph run under each graph's own tensors, and each graph chooses its own") {
    Kept const kept;
    SmallGraph first = small_graph(), second = small_graph();
    REQUIRE(first.graph.build(Target::cpu()).get_message() == "");
    REQUIRE(second.graph.build_operation_graph(Target::cpu()).get_message() == "");
    CHECK(second.graph.get_execution_plan_count() == 0);
    REQUIRE(second.graph.create_execution_plans({HeurMode_t::A}).get_message() == "");
    CHECK(second.graph.get_workspace_size() == 0);
    std::int64_t bytes = 0;
    CHECK(second.graph.get_workspace_size_plan_at_index(0, bytes).get_message().find("plan 0 is not built") == 0);
    REQUIRE(second.graph.build_plans().get_message() == "");
    std::vector<float> q(384, 0.5f), k(320, 0.25f), v(320, 2.0f), o(384);
    std::unordered_map<test::Tensor_ptr, void*> pack{
        {second.q, q.data()}, {second.k, k.data()}, {second.v, v.data()}, {second.o, o.data()}};
    auto workspace = test::workspace_of(second.graph);
    CHECK(second.graph.execute(pack, workspace.data()).get_message() == "");
    CHECK(o.back() == 2.0f);
    CHECK(first.graph.execute(pack, workspace.data()).get_message().find("of the pack that belongs to another graph") !=
          std::string::npos);
}

TEST_CASE("threads that build one graph at once, while others forget it, each get its plan") {
    Kept const kept;
    auto const build_often = [](bool forgets) {
        for (int i = 0; i < 20; ++i) {
            SmallGraph small = graph_with_stats();
            if (!small.graph.build(Target::cpu(1)).is_good() || small.stats->get_uid() != 5) return false;
            if (forgets && i % 3 == 0) runtime::forget_graphs();
        }
        return true;
    };
    bool is_good[4] = {};
    std::vector<std::thread> threads;
    for (bool& good : is_good) threads.emplace_back([&] { good = build_often(&good == &is_good[0]); });
    for (std::thread& thread : threads) thread.join();
    for (bool const good : is_good) CHECK(good);
}
