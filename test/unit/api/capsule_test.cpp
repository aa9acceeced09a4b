// Capsules: what they hold, what they leave out, and those that a failure writes.
#include <cudnn_frontend/explanation.h>
#include <cudnn_frontend/graph.h>
#include <sdpa_graph/group.h>

#include "support/catch.h"
#include "support/small_graph.h"

#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace cudnn_frontend;

namespace {

namespace fs = std::filesystem;

bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

test::SmallGraph padded_graph() {
    test::SmallGraph small;
    auto const lengths =
        graph::Tensor_attributes().set_dim({2, 1, 1, 1}).set_stride({1, 1, 1, 1}).set_data_type(DataType_t::INT32);
    auto length_q = std::make_shared<graph::Tensor_attributes>(graph::Tensor_attributes(lengths).set_uid(20));
    auto length_kv = std::make_shared<graph::Tensor_attributes>(graph::Tensor_attributes(lengths).set_uid(21));
    return test::small_graph(graph::SDPA_attributes()
                                 .set_name("attention")
                                 .set_padding_mask(true)
                                 .set_seq_len_q(length_q)
                                 .set_seq_len_kv(length_kv));
}

// Memory of the padded graph, by uid.
struct Pack {
    std::vector<float> numbers = std::vector<float>(400, 0.7654321f);
    std::vector<float> o = std::vector<float>(400);
    std::vector<std::int32_t> length_q = {6, 4}, length_kv = {10, 3};
    std::map<std::int64_t, void*> pointers;

    explicit Pack(test::SmallGraph const& small) {
        for (auto const& tensor : {small.q, small.k, small.v}) pointers[tensor->get_uid()] = numbers.data();
        pointers[small.o->get_uid()] = o.data();
        pointers[20] = length_q.data();
        pointers[21] = length_kv.data();
    }
};

// A folder for capsules, as the environment names it.
class Folder {
   public:
    Folder() : path_(fs::temp_directory_path() / ("capsules-" + std::to_string(::getpid()))) {
        fs::remove_all(path_);
        ::setenv("SDPA_GRAPH_CAPSULES", path_.c_str(), 1);
    }
    Folder(Folder const&) = delete;
    Folder& operator=(Folder const&) = delete;
    ~Folder() {
        ::unsetenv("SDPA_GRAPH_CAPSULES");
        fs::remove_all(path_);
    }

    std::vector<std::string> texts() const {
        std::vector<std::string> all;
        std::error_code ignored;
        for (auto const& entry : fs::directory_iterator(path_, ignored)) {
            std::ostringstream text;
            text << std::ifstream(entry.path()).rdbuf();
            all.push_back(text.str());
        }
        return all;
    }

   private:
    fs::path path_;
};

}  // namespace

TEST_CASE("A capsule has the graph, the versions, the plan and the structure of the pack") {
    test::SmallGraph small = padded_graph();
    REQUIRE(small.graph.build(Target::cpu()).get_message() == "");
    Pack const pack(small);
    std::string json;
    REQUIRE(small.graph.capsule(pack.pointers, json).get_message() == "");
    CHECK(has(json, "\"format\": \"sdpa-graph-capsule\""));
    CHECK(has(json, "\"failure\": null"));
    CHECK(has(json, "\"padding_mask\": true"));
    CHECK(has(json, "\"sdpa_graph\": \"0.1.0\""));
    CHECK(has(json, "\"target\": \"cpu\""));
    CHECK(has(json, "\"plan\": \"cpu\""));
    CHECK(has(json, "[6, 4]"));
    CHECK(has(json, "[10, 3]"));
    CHECK(has(json, "\"alignment\": "));
    // A capsule has no data of tensors.
    CHECK_FALSE(has(json, "0.765"));

    graph::Graph read;
    CHECK(read.deserialize(json).is_bad());
}

TEST_CASE("A capsule of a rank's part has the group and the tokens of each rank") {
    using sdpa_graph::Group;
    Group group;
    REQUIRE(Group::described(1, 2, group).get_message() == "");
    test::SmallGraph small = test::small_graph(graph::SDPA_attributes().set_name("attention"));
    small.graph.set_group(group, sdpa_graph::Layout::head_tail(12, 2), {.way = sdpa_graph::Group_way::GATHER});
    std::string json;
    REQUIRE(small.graph.capsule(json).get_message() == "");
    INFO(json);
    CHECK(has(json, "\"rank\": 1"));
    CHECK(has(json, "\"size\": 2"));
    CHECK(has(json, "\"way\": \"GATHER\""));
    CHECK(has(json, "[0, 3]"));
    CHECK(has(json, "[9, 3]"));
    CHECK(has(json, "[3, 6]"));
}

TEST_CASE("A capsule of a graph that breaks a rule has the findings") {
    test::SmallGraph small = padded_graph();
    small.k->set_dim({2, 3, 10, 8}).set_stride({240, 80, 8, 1});
    std::string json;
    REQUIRE(small.graph.capsule(json).get_message() == "");
    CHECK(has(json, "sdpa_fwd.c04"));
    CHECK(has(json, "\"plan\": null"));
    CHECK(has(json, "\"target\": null"));
}

TEST_CASE("Failures write capsules where the environment names a folder") {
    Folder const folder;
    test::SmallGraph small = padded_graph();
    REQUIRE(small.graph.build(Target::cpu()).get_message() == "");
    Pack pack(small);
    auto workspace = test::workspace_of(small.graph);
    REQUIRE(small.graph.execute(pack.pointers, workspace.data()).get_message() == "");
    CHECK(folder.texts().empty());

    pack.pointers[small.q->get_uid()] = nullptr;
    CHECK(small.graph.execute(pack.pointers, workspace.data()).is_bad());
    CHECK(small.graph.execute(pack.pointers, workspace.data()).is_bad());
    std::vector<std::string> const of_run = folder.texts();
    REQUIRE(of_run.size() == 1);
    CHECK(has(of_run[0], "\"stage\": \"execute\""));
    CHECK(has(of_run[0], "run.r06"));
    CHECK(has(of_run[0], "\"alignment\": null"));

    small.k->set_dim({2, 3, 10, 8}).set_stride({240, 80, 8, 1});
    CHECK(small.graph.build(Target::cpu()).is_bad());
    std::vector<std::string> const all = folder.texts();
    REQUIRE(all.size() == 2);
    CHECK((has(all[0], "\"stage\": \"build_operation_graph\"") || has(all[1], "\"stage\": \"build_operation_graph\"")));
}

TEST_CASE("An explanation of a graph without a plan writes no capsule") {
    Folder const folder;
    test::SmallGraph small = padded_graph();
    small.k->set_dim({2, 3, 10, 8}).set_stride({240, 80, 8, 1});
    CHECK_FALSE(small.graph.explain(Target::cpu()).has_plan());
    CHECK(folder.texts().empty());
}

// The last one: the process keeps no capsules after it.
TEST_CASE("A process writes a limited number of capsules") {
    Folder const folder;
    test::SmallGraph small = padded_graph();
    REQUIRE(small.graph.build(Target::cpu()).get_message() == "");
    Pack pack(small);
    auto workspace = test::workspace_of(small.graph);
    pack.pointers[small.q->get_uid()] = nullptr;
    for (std::int32_t i = 0; i < 121; ++i) {
        pack.length_kv = {i / 11, i % 11};
        CHECK(small.graph.execute(pack.pointers, workspace.data()).is_bad());
    }
    CHECK(folder.texts().size() > 50);
    CHECK(folder.texts().size() <= 100);
}
