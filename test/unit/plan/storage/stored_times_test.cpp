// Times of candidates in the plan store, and the plans that are chosen by them.
#include "plan/storage/stored_times.h"

#include "api/graph/graph_impl.h"
#include "core/text.h"
#include "expand/expand.h"
#include "group/task.h"
#include "plan/known_plans.h"
#include "plan/storage/plan_folder.h"
#include "support/catch.h"
#include "support/small_graph.h"

#include <sdpa_graph/plan_store.h>

#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

using namespace cudnn_frontend;
using plan::MeasuredTimes;
using plan::TimedCandidates;
using Error = cudnn_frontend::error_t;
namespace fs = std::filesystem;

namespace {

// An engine whose plans compute nothing.
class IdleEngine final : public plan::Engine {
   public:
    explicit IdleEngine(std::string const& name) { info_.name = name; }
    plan::EngineInfo const& info() const override { return info_; }
    Result<std::shared_ptr<plan::Executable const>> build() override {
        return std::shared_ptr<plan::Executable const>(std::make_shared<Idle const>());
    }

   private:
    struct Idle final : plan::Executable {
        std::int64_t workspace_size() const override { return 0; }
        Error launch(plan::Launch const&) const override { return {}; }
        Result<std::string> serialize() const override { return std::string(); }
    };
    plan::EngineInfo info_;
};

// A backend with the engines "first", "second" and "third", in this order, on a machine of that name.
class IdleBackend final : public plan::Backend {
   public:
    explicit IdleBackend(std::string machine) : machine_(std::move(machine)) {}

    char const* name() const override { return "idle"; }
    bool serves(Target const&) const override { return true; }
    Result<std::shared_ptr<plan::Proposal const>> propose(plan::PlanningInput const& input) const override {
        auto const layout = std::make_shared<plan::PackLayout const>(
            plan::make_pack_layout(input.graph.spec(), expand::expand(input.graph, {}).value()));
        plan::Engines engines;
        for (char const* const engine : {"first", "second", "third"})
            engines.push_back(std::make_shared<IdleEngine>(engine));
        return std::make_shared<plan::Proposal const>(layout, std::move(engines));
    }
    std::optional<std::string> environment(Target const&, plan::Settings const&) const override { return machine_; }

   private:
    std::string machine_;
};

// The process's store, which is gone at the end.
class Store {
   public:
    Store() : path_(fs::temp_directory_path() / ("sdpa_times_" + std::to_string(getpid()))) {
        fs::remove_all(path_);
        sdpa_graph::set_plan_store({path_.string()});
    }
    ~Store() {
        sdpa_graph::set_plan_store({});
        fs::remove_all(path_);
    }
    void freeze() const { sdpa_graph::set_plan_store({path_.string(), true}); }
    fs::path const& path() const { return path_; }
    std::vector<fs::path> files() const {
        std::vector<fs::path> all;
        if (!fs::exists(path_)) return all;
        for (auto const& entry : fs::recursive_directory_iterator(path_)) {
            if (entry.is_regular_file()) all.push_back(entry.path());
        }
        return all;
    }

   private:
    fs::path path_;
};

plan::GraphPointer graph_of(std::function<void(nodes::GraphSpec&)> const& change = {}) {
    nodes::GraphSpec spec = cudnn_frontend::detail::Graph_access::snapshot(test::small_graph().graph).spec;
    if (change) change(spec);
    auto valid = nodes::validate(spec);
    REQUIRE(valid.report.to_error().get_message() == "");
    return std::make_shared<nodes::ValidatedGraph const>(std::move(*valid.graph));
}

// A graph on a machine.
struct Planned {
    plan::GraphPointer graph = graph_of();
    IdleBackend backend{"one machine"};
    plan::Settings settings = {};
    Target target = Target::cpu();

    plan::PlanningInput input() const { return {*graph, target, settings}; }
    bool keep(TimedCandidates const& times) const { return plan::keep_times(input(), {&backend}, times); }
    plan::StoredTimes find() const { return plan::find_times(input(), {&backend}); }
    std::shared_ptr<plan::Planner> candidates() const {
        auto const proposed = plan::propose_known(graph, target, settings, {&backend});
        REQUIRE(proposed.error().get_message() == "");
        return proposed.value().object->with_candidates({HeurMode_t::A}).value();
    }
    std::string built(BuildPlanPolicy_t policy = BuildPlanPolicy_t::HEURISTICS_CHOICE,
                      plan::Filters const& filters = {}) const {
        auto const planner = candidates();
        REQUIRE(planner->build(policy, false, filters).get_message() == "");
        return planner->plan()->info().name;
    }
};

plan::TimedCandidate timed(char const* name, std::vector<double> const& runs) {
    return {"idle", name, MeasuredTimes::of(runs)};
}

// The second is clearly faster than the first.
TimedCandidates const kTimes = {timed("first", {10.0, 11.0, 12.0}), timed("second", {4.0, 5.0, 6.0}),
                                timed("third", {7.0, 8.0, 9.0})};

void change_times(fs::path const& file, std::function<void(std::string&)> const& change) {
    std::ifstream in(file, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    change(bytes);
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

plan::GraphPointer deterministic_graph() {
    return graph_of([](nodes::GraphSpec& spec) {
        nodes::TensorSpec sum;
        sum.name = "sum", sum.is_virtual = false;
        sum.dim = {1, 1, 1, 1}, sum.stride = {1, 1, 1, 1};
        sum.data_type = DataType_t::FLOAT;
        nodes::Node node;
        node.fields = nodes::ReductionFields{ReductionMode_t::ADD, true};
        node.ports = {spec.nodes[0].ports[0], static_cast<nodes::TensorId>(spec.tensors.size())};
        node.position = 1;
        spec.tensors.push_back(sum);
        spec.nodes.push_back(node);
    });
}

}  // namespace

TEST_CASE("times: bytes give the same times again, and others are errors") {
    std::string const bytes = plan::to_bytes(kTimes);
    CHECK(plan::read_times(bytes).value() == kTimes);
    CHECK(plan::read_times(plan::to_bytes({})).value().empty());
    for (std::size_t size = 0; size < bytes.size(); ++size) CHECK(plan::read_times(bytes.substr(0, size)).is_bad());
    CHECK(plan::read_times(bytes + "x").is_bad());
    double const infinite = std::numeric_limits<double>::infinity();
    for (MeasuredTimes const& wrong : {MeasuredTimes{2.0, 3.0, 4.0, 3}, MeasuredTimes{2.0, 1.0, 1.5, 3},
                                       MeasuredTimes{2.0, 0.0, 3.0, 3}, MeasuredTimes{2.0, 1.0, infinite, 3},
                                       MeasuredTimes{2.0, 1.0, std::nan(""), 3}, MeasuredTimes{2.0, 1.0, 3.0, 0}}) {
        CHECK(plan::read_times(plan::to_bytes({{"idle", "first", wrong}})).error().err_msg ==
              "found bytes that are no times of candidates; expected names, each with times in ascending order");
    }
}

TEST_CASE("times: a graph of other names and uids finds them, in the same circumstances alone") {
    Store const store;
    Planned const kept;
    CHECK(kept.find().candidates.empty());
    REQUIRE(kept.keep(kTimes));
    REQUIRE(store.files().size() == 1);
    CHECK(store.files().front().parent_path().filename() == "one-machine--times");
    CHECK(kept.find().candidates == kTimes);
    CHECK(Planned{graph_of([](nodes::GraphSpec& spec) {
              spec.name = "other";
              for (auto& tensor : spec.tensors) tensor.name += "2";
              spec.tensors[0].uid = 77;
          })}.find()
              .candidates == kTimes);

    CHECK(Planned{graph_of([](nodes::GraphSpec& spec) { spec.tensors[0].stride[0] *= 2; })}.find().candidates.empty());
    CHECK(Planned{kept.graph, IdleBackend("another machine")}.find().candidates.empty());
    plan::Settings few, classes, batch_invariant, in_group;
    few.sm_count = 4;
    classes.shape_policy = ShapePolicy_t::CLASSES;
    batch_invariant.batch_invariant = true;
    in_group.group = std::make_shared<group::Task const>();
    for (auto const& settings : {few, classes, batch_invariant, in_group})
        CHECK(Planned{kept.graph, kept.backend, settings}.find().candidates.empty());
    CHECK_FALSE(Planned{kept.graph, kept.backend, batch_invariant}.keep(kTimes));
    CHECK_FALSE(Planned{kept.graph, kept.backend, in_group}.keep(kTimes));

    TimedCandidates const later = {timed("first", {1.0}), timed("second", {2.0})};
    REQUIRE(kept.keep(later));
    CHECK(kept.find().candidates == later);
    sdpa_graph::set_plan_store({});
    CHECK_FALSE(kept.keep(kTimes));
    CHECK(kept.find().candidates.empty());
}

TEST_CASE("times: a store has those of a graph by environment and circumstances") {
    Store const store;
    plan::Settings few_in_class;
    few_in_class.sm_count = 4;
    few_in_class.shape_policy = ShapePolicy_t::CLASSES;
    TimedCandidates const of_few = {timed("first", {1.0}), timed("third", {2.0})};
    Planned const kept, few{kept.graph, kept.backend, few_in_class},
        elsewhere{kept.graph, IdleBackend("another machine")},
        other{graph_of([](nodes::GraphSpec&spec) { spec.tensors[0].stride[0] *= 2; })};
    REQUIRE((kept.keep(kTimes) && few.keep(of_few) && elsewhere.keep(kTimes) && other.keep(of_few)));
    sdpa_graph::set_plan_store({});

    auto const renamed = graph_of([](nodes::GraphSpec& spec) { spec.tensors[0].name = "renamed"; });
    auto const all = plan::all_times(store.path(), *renamed).value();
    REQUIRE(all.size() == 3);
    CHECK((all[0].environment == "another machine" && all[1].environment == "one machine"));
    CHECK((all[0].circumstances.empty() && all[1].circumstances.empty()));
    CHECK((all[0].candidates == kTimes && all[1].candidates == kTimes));
    CHECK((all[2].environment == "one machine" && all[2].candidates == of_few));
    CHECK(all[2].circumstances == "at most 4 multiprocessors, class of shapes");

    fs::copy_file(store.files().front(), store.files().front().parent_path() / "copy.plan");
    CHECK(plan::all_times(store.path(), *renamed).value().size() == 3);
    for (fs::path const& file : store.files())
        change_times(file, [](std::string& bytes) { bytes.back() = static_cast<char>(bytes.back() ^ 1); });
    CHECK(plan::all_times(store.path(), *renamed).value().empty());
    CHECK(plan::all_times(store.path() / "none", *renamed).error().err_msg.find("cannot be read") != std::string::npos);
}

TEST_CASE("times: damaged, cut and exchanged files are misses") {
    Store const store;
    Planned const kept, other{graph_of([](nodes::GraphSpec&spec) { spec.tensors[0].stride[0] *= 2; })};
    REQUIRE(kept.keep(kTimes));
    fs::path const file = store.files().front();
    auto const size = fs::file_size(file);
    for (std::size_t i = 0; i < size; i += i < 64 ? 1 : 17) {
        auto const flip = [&](std::string& bytes) { bytes[i] = static_cast<char>(bytes[i] ^ 0x10); };
        INFO("byte " << i << " of " << size);
        change_times(file, flip);
        CHECK(kept.find().candidates.empty());
        CHECK(kept.built() == "first");
        change_times(file, flip);
    }
    for (std::size_t const whole : {std::size_t{0}, std::size_t{40}, size - 1}) {
        REQUIRE(kept.keep(kTimes));
        change_times(file, [&](std::string& bytes) { bytes.resize(whole); });
        CHECK(kept.find().candidates.empty());
    }
    REQUIRE(kept.keep(kTimes));
    REQUIRE(other.keep(kTimes));
    for (fs::path const& each : store.files()) {
        if (each != file) fs::copy_file(file, each, fs::copy_options::overwrite_existing);
    }
    CHECK(kept.find().candidates == kTimes);
    CHECK(other.find().candidates.empty());
}

TEST_CASE("times: a frozen store is read and not written") {
    Store const store;
    Planned const kept;
    REQUIRE(kept.keep(kTimes));
    store.freeze();
    kept.keep({timed("first", {1.0}), timed("second", {2.0})});
    CHECK(kept.find().candidates == kTimes);
}

TEST_CASE("times: the fastest candidate is built first, if it is faster by more than the noise") {
    Store const store;
    Planned const kept;
    CHECK(kept.built() == "first");
    REQUIRE(kept.keep(kTimes));
    CHECK(kept.built() == "second");
    CHECK(kept.built(BuildPlanPolicy_t::ALL) == "second");
    plan::Filters without_first, without_second;
    without_first.barred_names = {"first"};
    without_second.barred_names = {"second"};
    CHECK(kept.built(BuildPlanPolicy_t::HEURISTICS_CHOICE, without_first) == "second");
    CHECK(kept.built(BuildPlanPolicy_t::HEURISTICS_CHOICE, without_second) == "third");

    REQUIRE(kept.keep({timed("first", {10.0, 11.0, 12.0}), timed("second", {9.0, 10.5, 12.0})}));
    CHECK(kept.built() == "first");  // its median is greater, and yet no greater than times differ
    REQUIRE(kept.keep({timed("second", {4.0}), timed("third", {5.0})}));
    CHECK(kept.built() == "first");  // nothing is known of it
    REQUIRE(kept.keep({timed("first", {10.0}), {"another backend", "second", MeasuredTimes::of({4.0})}}));
    CHECK(kept.built() == "first");

    REQUIRE(kept.keep(kTimes));
    auto const listed = kept.candidates()->candidates({}).candidates;
    REQUIRE(listed.size() == 3);
    CHECK((listed[1].name == "second" && listed[1].measured_us == 5.0 && listed[1].measured_least_us == 4.0));
    CHECK((listed[1].measured_greatest_us == 6.0 && listed[1].measured_runs == 3));
}

TEST_CASE("times: a deterministic graph is planned by those of a frozen store alone") {
    Store const store;
    Planned const kept{deterministic_graph()};
    REQUIRE(kept.keep(kTimes));
    CHECK(kept.built() == "first");
    auto const remarks = kept.candidates()->candidates({}).remarks;
    REQUIRE(remarks.size() == 1);
    CHECK(remarks.front().starts_with("the measured times of the plan store are not used: "));
    store.freeze();
    CHECK(kept.built() == "second");
    CHECK(kept.candidates()->candidates({}).remarks.empty());
}

TEST_CASE("times: stores are merged and pruned with them") {
    Store const store;
    Planned const kept;
    REQUIRE(kept.keep(kTimes));
    fs::path const other = store.path().string() + "_other";
    CHECK(plan::merge_stores(store.path(), other).value() == 1);
    CHECK(plan::merge_stores(store.path(), other).value() == 0);
    sdpa_graph::set_plan_store({other.string()});
    CHECK(kept.find().candidates == kTimes);
    CHECK(plan::prune_store(other, 0).value() == 1);
    CHECK(kept.find().candidates.empty());
    fs::remove_all(other);
}
