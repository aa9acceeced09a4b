// Graph::set_first_run_verification(): a plan with wrong results is put aside, and the next one runs.
#include "api/graph/graph_impl.h"
#include "plan/planner.h"
#include "plan/shape_plans.h"
#include "support/catch.h"
#include "support/small_graph.h"

#include <cudnn_frontend/explanation.h>
#include <cudnn_frontend/process.h>
#include <sdpa_graph/plan_store.h>

#include <unistd.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <unordered_map>

using namespace cudnn_frontend;
using Error = cudnn_frontend::error_t;

namespace {

enum class Fault { None, ScaledTwice };

// The CPU's plan, whose first result has a fault.
class FaultyExecutable final : public plan::Executable {
   public:
    FaultyExecutable(std::shared_ptr<plan::Executable const> inner, std::size_t slot, std::int64_t elements,
                     Fault fault, std::int64_t extra_bytes, std::string device, int& launches)
        : inner_(std::move(inner)),
          slot_(slot),
          elements_(elements),
          fault_(fault),
          extra_bytes_(extra_bytes),
          device_(std::move(device)),
          launches_(launches) {}

    std::int64_t workspace_size() const override { return inner_->workspace_size() + extra_bytes_; }
    Error launch(plan::Launch const& launch) const override {
        ++launches_;
        Error error = inner_->launch(launch);
        auto* const result = static_cast<float*>(launch.pointers[slot_]);
        if (fault_ == Fault::ScaledTwice) std::for_each(result, result + elements_, [](float& x) { x *= 2.0f; });
        return error;
    }
    Result<std::string> serialize() const override { return std::string(); }
    Result<plan::ExecutableFacts> facts() const override { return plan::ExecutableFacts{.device = device_}; }

   private:
    std::shared_ptr<plan::Executable const> inner_;
    std::size_t slot_;
    std::int64_t elements_;
    Fault fault_;
    std::int64_t extra_bytes_;
    std::string device_;
    int& launches_;
};

class FaultyEngine final : public plan::Engine {
   public:
    FaultyEngine(std::string const& name, std::shared_ptr<plan::Executable const> executable)
        : executable_(std::move(executable)) {
        info_.name = name;
    }
    plan::EngineInfo const& info() const override { return info_; }
    Result<std::shared_ptr<plan::Executable const>> build() override { return executable_; }

   private:
    plan::EngineInfo info_;
    std::shared_ptr<plan::Executable const> executable_;
};

// A built graph whose candidates are made of the CPU's plan.
class Tried {
   public:
    struct Engine {
        std::string name;
        Fault fault = Fault::None;
        std::int64_t extra_bytes = 0;
    };

    explicit Tried(std::vector<Engine> const& engines, bool is_verified = true, std::string const& device = "") {
        small_.graph.set_first_run_verification(is_verified);
        REQUIRE(small_.graph.build(Target::cpu(1)).get_message() == "");
        for (std::size_t i = 0; i < 384; ++i) {
            q_[i] = std::sin(static_cast<float>(i));
            k_[i % 320] = std::cos(static_cast<float>(3 * i));
            v_[i % 320] = std::sin(static_cast<float>(7 * i));
        }
        REQUIRE(run().get_message() == "");
        right_ = o_;
        choose(engines, device);
    }

    Error run() {
        workspace_.resize(static_cast<std::size_t>(small_.graph.get_workspace_size()) + 64);
        std::unordered_map<test::Tensor_ptr, void*> const pack = {
            {small_.q, q_.data()}, {small_.k, k_.data()}, {small_.v, v_.data()}, {small_.o, o_.data()}};
        return small_.graph.execute(pack, workspace_.data());
    }
    bool is_right() const { return o_ == right_; }
    std::string plan() const {
        std::string name;
        REQUIRE(small_.graph.get_plan_name(name).is_good());
        return name;
    }
    Plan_candidate candidate(std::size_t index) const {
        Plan_candidates all;
        REQUIRE(small_.graph.get_candidates(all).is_good());
        return all.candidates.at(index);
    }
    int launches(std::size_t engine) const { return launches_.at(engine); }

   private:
    void choose(std::vector<Engine> const& engines, std::string const& device) {
        graph::Graph::Impl& parts = *detail::Graph_access::parts(small_.graph);
        auto const inner = parts.planner->plan()->executable();
        auto const layout = std::make_shared<plan::PackLayout const>(parts.planner->layout());
        std::size_t const slot = layout->slot_of(small_.o->get_uid()).value();
        plan::Engines made;
        launches_.assign(engines.size(), 0);
        for (Engine const& engine : engines) {
            auto executable = std::make_shared<FaultyExecutable>(inner, slot, 384, engine.fault, engine.extra_bytes,
                                                                 device, launches_[made.size()]);
            made.push_back(std::make_shared<FaultyEngine>(engine.name, std::move(executable)));
        }
        plan::Planner::Answers answers;
        answers.proposals.push_back({"faulty", std::make_shared<plan::Proposal>(layout, std::move(made))});
        auto const planner = plan::Planner(std::make_shared<plan::Planner::Answers const>(std::move(answers)),
                                           plan::Planner::Candidates())
                                 .with_candidates({HeurMode_t::A});
        REQUIRE(planner.value()->build(BuildPlanPolicy_t::HEURISTICS_CHOICE, false, {}).is_good());
        parts.planner = planner.value();
    }

    test::SmallGraph small_ = test::small_graph();
    std::vector<float> q_ = std::vector<float>(384), k_ = std::vector<float>(320), v_ = k_, o_ = q_, right_;
    std::vector<char> workspace_;
    std::vector<int> launches_;
};

bool has(std::string const& text, char const* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("first run: right results prove a plan, whose later runs are not verified") {
    Tried tried({{"one"}, {"two"}});
    REQUIRE(tried.run().get_message() == "");
    CHECK((tried.is_right() && tried.plan() == "one"));
    REQUIRE(tried.run().is_good());
    CHECK((tried.launches(0) == 2 && tried.launches(1) == 0));
}

TEST_CASE("first run: a plan with wrong results is put aside, and the next one runs from then on") {
    Tried tried({{"wrong", Fault::ScaledTwice}, {"larger", Fault::None, 1024}, {"right"}});
    REQUIRE(tried.plan() == "wrong");
    REQUIRE(tried.run().get_message() == "");
    CHECK((tried.is_right() && tried.plan() == "right"));
    CHECK(tried.candidate(0).state == CandidateState::NOT_USABLE);
    CHECK(has(tried.candidate(0).reason, "gave wrong results in its first run: attention::O is wrong in "));
    CHECK(has(tried.candidate(0).reason, " of 384 elements, most at ["));
    REQUIRE(tried.run().is_good());
    CHECK((tried.launches(0) == 1 && tried.launches(1) == 0 && tried.launches(2) == 2));
}

TEST_CASE("first run: without a right plan it is an error that names each") {
    Tried tried({{"one", Fault::ScaledTwice}, {"two", Fault::ScaledTwice}});
    Error const error = tried.run();
    CHECK(has(error.get_message(), "one gave wrong results in its first run: "));
    CHECK(has(error.get_message(), "two gave wrong results in its first run: "));
    CHECK(tried.run().is_bad());
    CHECK((tried.launches(0) == 1 && tried.launches(1) == 1));
}

TEST_CASE("first run: without the option nothing is verified") {
    Tried tried({{"wrong", Fault::ScaledTwice}, {"right"}}, false);
    REQUIRE(tried.run().is_good());
    CHECK((!tried.is_right() && tried.plan() == "wrong"));
}

TEST_CASE("first run: the process's setting holds for graphs that do not say it") {
    CHECK(!runtime::verifies_first_runs());
    runtime::set_verifies_first_runs(true);
    test::SmallGraph verified = test::small_graph();
    REQUIRE(verified.graph.build(Target::cpu()).is_good());
    CHECK(detail::Graph_access::parts(verified.graph)->verifies_first_run);
    REQUIRE(verified.graph.set_first_run_verification(false).build(Target::cpu()).is_good());
    CHECK(!detail::Graph_access::parts(verified.graph)->verifies_first_run);
    runtime::set_verifies_first_runs(false);
}

TEST_CASE("first run: large scores of FLOAT lose more than their weights are rounded, and are right") {
    constexpr std::int64_t kTokens = 64, kColumns = 128;
    graph::Graph graph;
    graph.set_io_data_type(DataType_t::FLOAT).set_first_run_verification(true);
    auto const tensor = [&](char const* name) {
        return graph.tensor(graph::Tensor_attributes()
                                .set_name(name)
                                .set_dim({1, 1, kTokens, kColumns})
                                .set_stride({kTokens * kColumns, kTokens * kColumns, kColumns, 1}));
    };
    auto const q = tensor("Q"), k = tensor("K"), v = tensor("V");
    auto const o = graph.sdpa(q, k, v, graph::SDPA_attributes().set_attn_scale(3.0f).set_causal_mask(true))[0];
    o->set_output(true);
    REQUIRE(graph.build(Target::cpu()).get_message() == "");
    std::mt19937 draw(1);
    std::normal_distribution<float> normal;
    std::vector<std::vector<float>> numbers(4, std::vector<float>(kTokens * kColumns));
    for (std::vector<float>& all : numbers) {
        for (float& number : all) number = normal(draw);
    }
    std::unordered_map<test::Tensor_ptr, void*> const pack = {
        {q, numbers[0].data()}, {k, numbers[1].data()}, {v, numbers[2].data()}, {o, numbers[3].data()}};
    auto workspace = test::workspace_of(graph);
    CHECK(graph.execute(pack, workspace.data()).get_message() == "");
}

TEST_CASE("first run: with a plan store the outcome holds for later processes") {
    std::filesystem::path const store =
        std::filesystem::temp_directory_path() / ("sdpa_first_runs_" + std::to_string(getpid()));
    sdpa_graph::set_plan_store({store.string()});
    std::vector<Tried::Engine> const engines = {{"wrong", Fault::ScaledTwice}, {"right"}};
    Tried first(engines, true, "a GPU");
    REQUIRE(first.run().is_good());
    CHECK(first.launches(0) == 1);
    Tried second(engines, true, "a GPU"), elsewhere(engines, true, "another GPU");
    REQUIRE((second.run().is_good() && elsewhere.run().is_good()));
    CHECK((second.is_right() && second.plan() == "right"));
    CHECK((second.launches(0) == 0 && second.launches(1) == 1));
    CHECK(elsewhere.launches(0) == 1);
    sdpa_graph::set_plan_store({});
    std::filesystem::remove_all(store);
}
