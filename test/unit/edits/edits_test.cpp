// Edits of graphs: their order, and which ones fix which fault.
#include "edits/edits.h"
#include "json/graph_json.h"
#include "nodes/validation/validate.h"
#include "support/catch.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

using namespace cudnn_frontend;
namespace Port = nodes::attention;

namespace {

nodes::GraphSpec graph_of(std::string const& name) {
    std::ifstream file(std::string(SDPA_SOURCE_DIR "/graphs/") + name + ".json");
    std::string const text((std::istreambuf_iterator<char>(file)), {});
    auto graph = json::read_graph(text);
    INFO(name << ": " << graph.error());
    REQUIRE(graph.is_good());
    return std::move(graph).value();
}

std::size_t faults_of(nodes::GraphSpec const& graph) { return nodes::validate(graph).report.findings().size(); }

// The texts of the edits after which the graph is valid, the cheapest first.
std::vector<std::string> fixes_of(nodes::GraphSpec const& graph) {
    std::vector<std::string> texts;
    for (edits::Edit const& edit : edits::edits_of(graph)) {
        if (faults_of(edit.graph) == 0) texts.push_back(edit.text);
    }
    return texts;
}

// Breaks the forward graph of a model, and expects that the cheapest fix begins so.
void expect_fix(std::string const& begin, std::function<void(nodes::GraphSpec&)> const& break_graph,
                std::string const& model = "vit-b16") {
    nodes::GraphSpec graph = graph_of(model);
    REQUIRE(faults_of(graph) == 0);
    break_graph(graph);
    INFO(begin);
    CHECK(faults_of(graph) > 0);
    auto const fixes = fixes_of(graph);
    REQUIRE(!fixes.empty());
    CHECK(fixes.front().substr(0, begin.size()) == begin);
}

nodes::AttentionFields& fields_of(nodes::GraphSpec& graph) {
    return std::get<nodes::SdpaForwardFields>(graph.nodes.front().fields);
}

}  // namespace

TEST_CASE("Edits change every graph of the corpus in many ways, the cheapest first") {
    for (auto const& entry : std::filesystem::directory_iterator(SDPA_SOURCE_DIR "/graphs")) {
        if (entry.path().extension() != ".json") continue;
        nodes::GraphSpec const graph = graph_of(entry.path().stem().string());
        auto const edits = edits::edits_of(graph);
        INFO(entry.path());
        bool const is_of_neighborhoods = nodes::attention_fields(graph.nodes.front()) == nullptr;
        CHECK((is_of_neighborhoods || !edits.empty()));
        CHECK(std::ranges::is_sorted(edits, {}, &edits::Edit::cost));
        for (edits::Edit const& edit : edits) {
            INFO(edit.text);
            CHECK(edit.graph != graph);
            CHECK(!edit.kind.empty());
            CHECK(json::read_graph(json::write_graph(edit.graph)).is_good());
        }
    }
}

TEST_CASE("What a description lacks is added") {
    expect_fix("set the strides of Q, row-major", [](auto& graph) { graph.tensors[0].stride.clear(); });
    expect_fix("name the type of the tensors", [](auto& graph) { graph.io_data_type = DataType_t::NOT_SET; });
    expect_fix("pass seed and offset", [](auto& graph) { fields_of(graph).dropout_probability = 0.1f; });
    expect_fix("pass seq_len_q and seq_len_kv, INT32 [32, 1, 1, 1]",
               [](auto& graph) { fields_of(graph).padding_mask = true; });
    expect_fix("call set_output(true) for O", [](auto& graph) { graph.tensors[3].is_virtual = true; });
    expect_fix(
        "pass Stats", [](auto& graph) { graph.nodes.front().ports[Port::Stats] = nodes::kNoTensor; },
        "gpt2-training-backward");
}

TEST_CASE("Sizes and types that contradict others are replaced") {
    expect_fix("set no dims and strides for O", [](auto& graph) { graph.tensors[3].dim[2] += 1; });
    expect_fix("compute in FLOAT", [](auto& graph) { graph.compute_data_type = DataType_t::HALF; });
    expect_fix("give V the type HALF", [](auto& graph) { graph.tensors[2].data_type = DataType_t::BFLOAT16; });
    expect_fix("give K a uid", [](auto& graph) { graph.tensors[0].uid = graph.tensors[1].uid = 3; });
    expect_fix("swap dims 2 and 3 of K", [](auto& graph) {
        std::swap(graph.tensors[1].dim[2], graph.tensors[1].dim[3]);
        std::swap(graph.tensors[1].stride[2], graph.tensors[1].stride[3]);
    });
}

TEST_CASE("Bounds of the band that are off are moved") {
    expect_fix("set the left bound to 1", [](auto& graph) { fields_of(graph).left_bound = 0; });
    expect_fix("leave the right bound out", [](auto& graph) { fields_of(graph).right_bound = -1; });
}

TEST_CASE("Stats that nothing reads are an edit of 8-bit attention of one query") {
    auto const asks_for_stats = [](std::string const& model) {
        nodes::GraphSpec const graph = graph_of(model);
        return std::ranges::any_of(edits::edits_of(graph), [](edits::Edit const& edit) {
            return edit.text.starts_with("ask for Stats") && faults_of(edit.graph) == 0;
        });
    };
    CHECK(asks_for_stats("llama3-8b-fp8-decode"));
    CHECK(!asks_for_stats("llama3-8b-fp8-prefill"));
    CHECK(!asks_for_stats("llama3-8b-decode"));
}

TEST_CASE("A second row of queries does not move the diagonal of a band") {
    auto const second_rows = [](nodes::GraphSpec const& graph) {
        std::vector<std::string> texts;
        for (edits::Edit const& edit : edits::edits_of(graph)) {
            if (edit.text.find("a second row of queries") != std::string::npos) texts.push_back(edit.text);
        }
        return texts;
    };
    nodes::GraphSpec graph = graph_of("whisper-large-cross-decode");
    CHECK(second_rows(graph).size() == 1);
    fields_of(graph).diagonal_alignment = DiagonalAlignment_t::BOTTOM_RIGHT;
    CHECK(second_rows(graph).size() == 1);
    fields_of(graph).right_bound = 0;
    CHECK(second_rows(graph).empty());
    auto const with_lengths = second_rows(graph_of("gpt-oss-20b-paged-window-decode"));
    REQUIRE(with_lengths.size() == 1);
    CHECK(with_lengths[0].ends_with("; the lengths of the queries stay 1"));
}

TEST_CASE("Graphs without attention and with absurd sizes have edits too") {
    nodes::GraphSpec graph = graph_of("dinat-base");
    CHECK(!edits::edits_of(graph).empty());
    graph = graph_of("vit-b16");
    for (nodes::TensorSpec& tensor : graph.tensors) {
        for (std::int64_t& size : tensor.dim) size = std::int64_t{1} << 62;
    }
    CHECK(!edits::edits_of(graph).empty());
    for (nodes::TensorSpec& tensor : graph.tensors) tensor.dim = {-5, 0};
    CHECK(!edits::edits_of(graph).empty());
    CHECK(edits::edits_of(nodes::GraphSpec()).size() >= 1);
}
