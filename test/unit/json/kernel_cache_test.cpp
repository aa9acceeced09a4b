#include "json/graph_json.h"

#include "support/catch.h"

using namespace cudnn_frontend;

TEST_CASE("json: what a kernel cache holds is read as it was written") {
    json::StoredKernels const kernels{91900, {{"graph \"a\"\n%0", "{\"kernels\": [\"\\\\\"]}"}, {"b", ""}}};
    std::string const text = json::write_kernels(kernels);
    auto const read = json::read_kernels(text);
    REQUIRE(read.is_good());
    CHECK(read.value().cudnn_version == kernels.cudnn_version);
    CHECK(read.value().parts == kernels.parts);
    CHECK(json::write_kernels(read.value()) == text);
}

TEST_CASE("json: a faulty text of a kernel cache is refused with its place, what was found and what is needed") {
    std::string const header = R"({"format": "sdpa-graph kernels", "version": 1, "cudnn_version": 91900, "parts": )";
    std::pair<std::string, char const*> const rows[] = {
        {"[]", "the document: found an array; expected an object"},
        {"{", "line 1, column 2: found unexpected end of input; expected string literal; expected JSON text"},
        {R"({"format": "sdpa-graph kernels", "version": 1, "parts": []})",
         "the document: found no member \"cudnn_version\"; expected one"},
        {R"({"format": "sdpa-graph", "version": 1, "cudnn_version": 91900, "parts": []})",
         "/format: found \"sdpa-graph\"; expected \"sdpa-graph kernels\""},
        {R"({"format": "sdpa-graph kernels", "version": 2, "cudnn_version": -1, "parts": []})",
         "/version: found 2; expected 1.\n  /cudnn_version: found -1; expected a number such as 91900"},
        {header + "{}}", "/parts: found an object; expected an array"},
        {header + R"([{"graph": "a"}]})", "/parts/0: found no member \"kernels\"; expected one"},
        {header + R"([{"graph": "a", "kernels": 7}]})", "/parts/0/kernels: found 7; expected text"},
        {header + R"([{"graph": "a", "kernels": "", "kernel": ""}]})",
         "/parts/0/kernel: found the unknown member \"kernel\"; expected one of graph, kernels. Try: \"kernels\""},
        {header + R"([{"graph": "a", "kernels": ""}, {"graph": "a", "kernels": ""}]})",
         "/parts/1/graph: found \"a\"; expected each graph once"},
    };
    for (auto const& [text, needed] : rows) {
        auto const read = json::read_kernels(text);
        INFO(text);
        REQUIRE(read.is_bad());
        CHECK(read.error().code == error_code_t::UNSUPPORTED_GRAPH_FORMAT);
        CAPTURE(read.error().err_msg, needed);
        CHECK(read.error().err_msg.find("the JSON text is not what a kernel cache holds\n  ") == 0);
        CHECK(read.error().err_msg.find(needed) != std::string::npos);
    }
}
