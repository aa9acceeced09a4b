// Plans of real cuDNN in the plan store, made for an H200 on machines without a GPU.
#include "core/process/plan_store.h"
#include "lowering/has_cudnn.h"
#include "support/catch.h"
#include "support/program_graphs.h"

#include <cudnn_frontend/explanation.h>
#include <cudnn_frontend/process.h>
#include <cudnn_frontend/runtime.h>
#include <sdpa_graph/group.h>
#include <sdpa_graph/plan_store.h>

#include <unistd.h>
#include <array>
#include <filesystem>
#include <fstream>

using namespace cudnn_frontend;
namespace fs = std::filesystem;

namespace {

// A store that is gone at the end.
class Store {
   public:
    Store() : path_(fs::temp_directory_path() / ("sdpa_store_" + std::to_string(getpid()))) {
        fs::remove_all(path_);
        sdpa_graph::set_plan_store({path_.string(), false});
    }
    ~Store() {
        sdpa_graph::set_plan_store({});
        runtime::forget_graphs();
        fs::remove_all(path_);
    }

    fs::path const& path() const { return path_; }
    void freeze() const { sdpa_graph::set_plan_store({path_.string(), true}); }
    std::vector<fs::path> files() const {
        std::vector<fs::path> all;
        if (!fs::exists(path_)) return all;
        for (auto const& entry : fs::recursive_directory_iterator(path_)) {
            if (entry.path().extension() == ".plan") all.push_back(entry.path());
        }
        return all;
    }

   private:
    fs::path path_;
};

struct Built {
    std::string name, json;
    std::int64_t compiled, loaded;
};

// Builds as a process that never built a graph.
Built build(test::ProgramGraph all, char const* device = "h200", char const* graph_name = "") {
    runtime::forget_graphs();
    auto const before = core::process::engine_counts_of_thread();
    all.graph.set_name(graph_name);
    REQUIRE(all.graph.build(Target::offline(device)).get_message() == "");
    auto const after = core::process::engine_counts_of_thread();
    Built built{{}, {}, after.compiled - before.compiled, after.loaded - before.loaded};
    std::vector<std::uint8_t> bytes;
    REQUIRE(all.graph.get_plan_name(built.name).is_good());
    REQUIRE(all.graph.serialize(bytes).get_message() == "");
    built.json.assign(bytes.begin(), bytes.end());
    return built;
}

// The part of a rank that is only described.
Built build_rank() {
    auto const layout = sdpa_graph::Layout::head_tail(1024, 2);
    sdpa_graph::Group member;
    REQUIRE(sdpa_graph::Group::described(0, 2, member).is_good());
    test::ProgramGraph part = test::backward_graph(64, 64, true, layout.count_of(0));
    part.graph.set_group(member, layout, {sdpa_graph::Group_way::GATHER, 1, {}});
    return build(std::move(part));
}

test::ProgramGraph graph_of(std::int64_t length) { return test::backward_graph(64, 64, false, length); }

}  // namespace

TEST_CASE("a plan that was compiled before is read, whatever the name of its graph, and is the same", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Store const store;
    Built const first = build(graph_of(256));
    CHECK(first.compiled == 1);
    CHECK(first.loaded == 0);
    CHECK(store.files().size() == 1);
    Built const again = build(graph_of(256), "h200", "another");
    CHECK(again.compiled == 0);
    CHECK(again.loaded == 1);
    CHECK(again.name == first.name);
    CHECK(build(graph_of(256)).json == first.json);
    CHECK(store.files().size() == 1);
}

TEST_CASE("anything that a plan depends on makes another entry of the store", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Store const store;
    CHECK(build(graph_of(256)).compiled == 1);
    CHECK(build(graph_of(257)).compiled == 1);
    CHECK(build(test::backward_graph(128, 128, false, 256)).compiled == 1);
    CHECK(build(test::backward_graph(64, 64, true, 256)).compiled == 1);
    CHECK(build(graph_of(256), "h100").compiled == 1);
    CHECK(store.files().size() == 5);
}

TEST_CASE("files that are damaged, cut off or exchanged are misses, and are replaced", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Store const store;
    Built const first = build(graph_of(256));
    fs::path const file = store.files().front();
    CHECK(build(graph_of(512)).compiled == 1);
    auto const files = store.files();
    fs::path const other = files[0] == file ? files[1] : files[0];
    for (int damage = 0; damage < 3; ++damage) {
        if (damage == 0) fs::resize_file(file, fs::file_size(file) / 2);
        if (damage == 1) fs::copy_file(other, file, fs::copy_options::overwrite_existing);
        if (damage == 2) {
            std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
            bytes.seekp(static_cast<std::streamoff>(fs::file_size(file) - 100));
            bytes.put('\x7f');
        }
        Built const built = build(graph_of(256));
        CHECK(built.compiled == 1);
        CHECK(built.name == first.name);
        CHECK(build(graph_of(256)).loaded == 1);
    }
}

TEST_CASE("a frozen store is read and not written", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Store const store;
    CHECK(build(graph_of(256)).compiled == 1);
    store.freeze();
    CHECK(build(graph_of(512)).compiled == 1);
    CHECK(store.files().size() == 1);
    CHECK(build(graph_of(256)).loaded == 1);
}

TEST_CASE("all shapes of a class need one entry of the store, and one of the kernels' code", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Store const store;
    for (std::int64_t const length : {200, 210, 256}) {
        test::ProgramGraph all = graph_of(length);
        all.graph.set_shape_policy(ShapePolicy_t::CLASSES);
        Built const built = build(std::move(all));
        CHECK(built.name.starts_with("program classes: eng"));
        CHECK(built.compiled == (length == 200 ? 1 : 0));
        CHECK(built.loaded == (length == 200 ? 0 : 1));
    }
    CHECK(store.files().size() <= 2);
    for (fs::path const& file : store.files()) {
        std::string const folder = file.parent_path().filename().string();
        // Where there is a driver, kernels are found under its release.
        CHECK((folder.find("planned-offline") != folder.npos || folder.find("driver-for-CUDA-1") != folder.npos));
    }
}

TEST_CASE("a list of wanted graphs fills another store", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Store const store;
    fs::path const wanted = store.path() / "wanted";
    sdpa_graph::set_plan_store({"", false, wanted.string()});
    test::ProgramGraph of_class = graph_of(200);
    of_class.graph.set_shape_policy(ShapePolicy_t::CLASSES);
    CHECK(build(graph_of(256)).compiled == 1);
    CHECK(build(graph_of(256), "h200", "another").compiled == 1);
    CHECK(build(std::move(of_class)).compiled == 1);
    CHECK(std::distance(fs::directory_iterator(wanted), {}) == 3);  // names belong to graphs

    runtime::forget_graphs();
    sdpa_graph::set_plan_store({store.path().string()});
    std::ofstream(wanted / "damaged.json") << "{";
    sdpa_graph::Filled_plans filled;
    REQUIRE(sdpa_graph::fill_plan_store(wanted.string(), "h200", filled).get_message() == "");
    CHECK(filled.compiled == 2);
    REQUIRE(filled.refused.size() == 1);
    CHECK(filled.refused.front().starts_with("damaged.json: "));
    CHECK(build(graph_of(256)).loaded == 1);
    test::ProgramGraph same_class = graph_of(210);
    same_class.graph.set_shape_policy(ShapePolicy_t::CLASSES);
    CHECK(build(std::move(same_class)).loaded == 1);
    CHECK(sdpa_graph::fill_plan_store((wanted / "nowhere").string(), "h200", filled).is_bad());
    REQUIRE(sdpa_graph::fill_plan_store(wanted.string(), "no such gpu", filled).is_good());
    CHECK(filled.refused.size() == 1 + 4);
}

TEST_CASE("graphs of neighborhoods, whose kernels are the library's own, are among the wanted ones", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Store const store;
    fs::path const wanted = store.path() / "wanted";
    sdpa_graph::set_plan_store({"", false, wanted.string()});
    graph::Graph neighborhood;
    neighborhood.set_io_data_type(DataType_t::HALF).set_compute_data_type(DataType_t::FLOAT);
    std::array<std::shared_ptr<graph::Tensor_attributes>, 3> qkv;
    for (auto& tensor : qkv) {
        tensor =
            neighborhood.tensor(graph::Tensor_attributes().set_dim({1, 96, 2, 32}).set_stride({96 * 64, 64, 32, 1}));
    }
    auto const options = graph::Neighborhood_attributes().set_kernel_size({7});
    neighborhood.neighborhood_attention(qkv[0], qkv[1], qkv[2], options)[0]->set_output(true);
    REQUIRE(neighborhood.build(Target::offline("h100")).get_message() == "");
    CHECK(std::distance(fs::directory_iterator(wanted), {}) == 1);

    runtime::forget_graphs();
    sdpa_graph::set_plan_store({store.path().string()});
    sdpa_graph::Filled_plans filled;
    REQUIRE(sdpa_graph::fill_plan_store(wanted.string(), "a100", filled).get_message() == "");
    CHECK(filled.refused.empty());
    CHECK(filled.compiled >= 1);  // code for another architecture than before
    CHECK(store.files().size() >= 1);
}

TEST_CASE("attentions of a rank's program are read from the store, and are wanted in place of its part", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Store const store;
    fs::path const wanted = store.path() / "wanted";
    sdpa_graph::set_plan_store({"", false, wanted.string()});
    Built const first = build_rank();
    CHECK(first.name.starts_with("program gather(1): eng"));
    CHECK(first.compiled > 0);
    CHECK(std::distance(fs::directory_iterator(wanted), {}) >= first.compiled);

    runtime::forget_graphs();
    sdpa_graph::set_plan_store({store.path().string()});
    sdpa_graph::Filled_plans filled;
    REQUIRE(sdpa_graph::fill_plan_store(wanted.string(), "h200", filled).get_message() == "");
    CHECK(filled.refused.empty());
    Built const again = build_rank();
    CHECK(again.compiled == 0);
    CHECK(again.loaded == first.compiled);
    CHECK(again.name == first.name);
}

TEST_CASE("measured times choose among the engines of cuDNN, on the GPU that they are of", "[offline]") {
    if (!sdpa_test::has_cudnn()) return;
    Store const store;
    std::string const usual = build(graph_of(256)).name;
    runtime::forget_graphs();
    test::ProgramGraph measured = graph_of(256);
    REQUIRE(measured.graph.build(Target::offline("h200")).get_message() == "");
    std::string other;
    std::vector<std::vector<double>> times(1, {20.0, 21.0});
    while (other.empty()) {  // some of the engines cannot be built
        auto const index = static_cast<std::int64_t>(times.size());
        REQUIRE(index < measured.graph.get_execution_plan_count());
        times.emplace_back();
        if (measured.graph.build_plan_at_index(index).is_bad()) continue;
        REQUIRE(measured.graph.get_plan_name_at_index(index, other).is_good());
        times.back() = {10.0, 12.0};
    }
    REQUIRE(measured.graph.build_plan_at_index(0).is_good());
    REQUIRE(measured.graph.choose_plan_by_times(times).get_message() == "");
    CHECK(other != usual);
    Built const later = build(graph_of(256), "h200", "another");
    CHECK((later.name == other && later.compiled == 0));
    CHECK(build(graph_of(256), "h100").name == usual);
    CHECK(build(graph_of(257)).name == usual);
}

TEST_CASE("An explanation says where the code of a plan came from, and why the store did not have it") {
    if (!sdpa_test::has_cudnn()) return;
    Store const store;
    auto const explained = [](char const* device) {
        Explanation explanation = graph_of(128).graph.explain(Target::offline(device));
        INFO(explanation);
        REQUIRE(explanation.has_plan());
        REQUIRE(!explanation.candidates.candidates.empty());
        return explanation.candidates.candidates.front();
    };
    runtime::forget_graphs();
    CHECK(explained("h100").origin == PlanOrigin::COMPILED);
    CHECK(explained("h100").origin == PlanOrigin::KNOWN);
    runtime::forget_graphs();
    Plan_candidate const stored = explained("h100");
    CHECK(stored.origin == PlanOrigin::STORED);
    CHECK(stored.store_miss.empty());
    CHECK(stored.estimated_us > 0.0);
    Plan_candidate const other = explained("h200");
    CHECK(other.origin == PlanOrigin::COMPILED);
    CHECK(other.store_miss.find("; the nearest entry has NVIDIA H100 80GB HBM3 in place of NVIDIA H200") !=
          std::string::npos);
}
