#include "malformed.h"

#include "json/graph_json.h"
#include "support/catch.h"

#include <algorithm>

using namespace cudnn_frontend;

TEST_CASE("json: each malformed document is refused with its place, what was found and what is needed") {
    for (test::Malformed const& document : test::malformed_documents()) {
        auto const spec = json::read_graph(document.text);
        INFO(document.text);
        REQUIRE(spec.is_bad());
        CHECK(spec.error().code == error_code_t::UNSUPPORTED_GRAPH_FORMAT);
        std::string const text = spec.error().err_msg;
        CAPTURE(text, document.error);
        CHECK(text.find(document.error) != std::string::npos);
        CHECK(std::count(text.begin(), text.end(), '\n') == 1);
    }
}

TEST_CASE("json: all faults of a document are reported together") {
    auto const spec = json::read_graph(R"({"format": "sdpa-graph", "version": 1, "extra": 0,
        "context": {"io_data_type": "HALFF"},
        "tensors": {"t0": {"dim": [1, "x"], "uid": true}, "t1": {"stride": {}}},
        "nodes": [{"tag": "NONE"}, {"tag": "MATMUL", "inputs": {"A": "t7", "Z": "t0"}, "fields": {"q": 1}}]})");
    REQUIRE(spec.is_bad());
    std::string const text = spec.error().err_msg;
    CAPTURE(text);
    for (char const* place :
         {"/extra:", "/context/io_data_type:", "/tensors/t0/dim/1:", "/tensors/t0/uid:", "/tensors/t1/stride:",
          "/nodes/0/tag:", "/nodes/1/inputs/A:", "/nodes/1/inputs/Z:", "/nodes/1/fields/q:"}) {
        CAPTURE(place);
        CHECK(text.find("\n  " + std::string(place)) != std::string::npos);
    }
    CHECK(std::count(text.begin(), text.end(), '\n') == 9);
}

TEST_CASE("json: a report of faults ends after fifty") {
    std::string nodes = "1";
    for (int i = 0; i < 999; ++i) nodes += ", 1";
    auto const spec =
        json::read_graph(R"({"format": "sdpa-graph", "version": 1, "tensors": {}, "nodes": [)" + nodes + "]}");
    REQUIRE(spec.is_bad());
    std::string const text = spec.error().err_msg;
    CHECK(text.find("/nodes/49: ") != std::string::npos);
    CHECK(text.find("/nodes/50: ") == std::string::npos);
    CHECK(text.find("(there may be more)") != std::string::npos);
}
