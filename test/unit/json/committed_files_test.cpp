// Files in the repository that the library generates.
#include "fingerprint.h"
#include "json/graph_json.h"
#include "specs.h"
#include "support/catch.h"

#include <fstream>
#include <iterator>

using namespace cudnn_frontend;

namespace {

std::string content_of(std::string const& path) {
    std::ifstream file(std::string(SDPA_SOURCE_DIR "/") + path, std::ios::binary);
    CAPTURE(path);
    REQUIRE(file.good());
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("json: docs/graph.schema.json is the schema of this code") {
    INFO("./run schema writes it anew");
    REQUIRE(content_of("docs/graph.schema.json") == json::graph_json_schema());
}

TEST_CASE("json: the golden document is what the graph is written as") {
    std::string const golden = content_of("test/unit/json/attention.json");
    REQUIRE(json::write_graph(test::attention_spec()) == golden);
    auto const spec = json::read_graph(golden);
    REQUIRE(spec.is_good());
    REQUIRE(test::fingerprint(spec.value()) == test::fingerprint(test::attention_spec()));
}

TEST_CASE("json: the documents in docs/json.md are graphs") {
    std::string const page = content_of("docs/json.md");
    std::string const fence = "```json\n{\n  \"format\"";
    int count = 0;
    for (auto at = page.find(fence); at != std::string::npos; at = page.find(fence, at + 1)) {
        std::size_t const start = page.find('\n', at) + 1;
        auto const spec = json::read_graph(page.substr(start, page.find("```", start) - start));
        INFO(spec.error().err_msg);
        CHECK(spec.is_good());
        ++count;
    }
    REQUIRE(count == 1);
}
