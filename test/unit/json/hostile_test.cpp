// Hostile text: too large, too deep, truncated or changed anywhere. Always an error or a graph, in bounded time.
#include "json/graph_json.h"
#include "specs.h"
#include "support/catch.h"

#include <random>

using namespace cudnn_frontend;

namespace {

std::string error_of(std::string_view text) {
    auto const spec = json::read_graph(text);
    REQUIRE(spec.is_bad());
    REQUIRE(spec.error().code == error_code_t::UNSUPPORTED_GRAPH_FORMAT);
    return spec.error().err_msg;
}

bool contains(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

std::string repeated(std::string const& part, std::size_t count) {
    std::string text;
    text.reserve(part.size() * count);
    for (std::size_t i = 0; i < count; ++i) text += part;
    return text;
}

std::string with_nodes(std::string const& nodes) {
    return R"({"format": "sdpa-graph", "version": 1, "tensors": {}, "nodes": )" + nodes + "}";
}

// Reading must give an error with a text, or a graph that is written as a document again.
void check_survives(std::string_view text) {
    auto const spec = json::read_graph(text);
    if (spec.is_bad()) {
        REQUIRE(spec.error().code == error_code_t::UNSUPPORTED_GRAPH_FORMAT);
        REQUIRE(contains(spec.error().err_msg, ": found "));
        return;
    }
    std::string const written = json::write_graph(spec.value());
    auto const again = json::read_graph(written);
    REQUIRE(again.is_good());
    REQUIRE(json::write_graph(again.value()) == written);
}

}  // namespace

TEST_CASE("json: text over 64 MiB is refused unread") {
    std::string const text((std::size_t{64} << 20) + 1, ' ');
    CHECK(contains(error_of(text), "found 67108865 bytes; expected at most 67108864"));
}

TEST_CASE("json: nesting is limited, whatever closes it") {
    CHECK(contains(error_of(std::string(30'000'000, '[')), "found nesting deeper than 64 levels"));
    CHECK(contains(error_of(repeated("{\"a\":", 10'000'000)), "found nesting deeper than 64 levels"));
    std::string const nodes = repeated("[", 100) + repeated("]", 100);
    CHECK(contains(error_of(with_nodes(nodes)), "/nodes/0/0"));
    CHECK_FALSE(contains(error_of(with_nodes(repeated("[", 63) + repeated("]", 63))), "deeper"));
    CHECK(contains(error_of(with_nodes(repeated("[", 64) + repeated("]", 64))), "deeper"));
}

TEST_CASE("json: lists and documents have a limit") {
    CHECK(
        contains(error_of("[1" + repeated(",1", 1'000'000) + "]"), "more than 1000000 members in one object or array"));
    std::string const list = "[1" + repeated(",1", 999'999) + "]";
    CHECK(contains(error_of("[" + list + repeated("," + list, 8) + "]"), "more than 8000000 values in the document"));
}

TEST_CASE("json: a hundred thousand tensors and nodes are read and written in linear time") {
    nodes::GraphSpec spec;
    spec.tensors.resize(100'000);
    auto const node = test::plain_spec().nodes.front();
    spec.nodes.assign(100'000, node);
    std::string const text = json::write_graph(spec);
    auto const back = json::read_graph(text);
    REQUIRE(back.is_good());
    REQUIRE(json::write_graph(back.value()) == text);
}

TEST_CASE("json: names of any length and content make short error texts") {
    std::string const text = error_of(with_nodes("[{\"tag\": \"" + std::string(1'000'000, 'x') + "\"}]"));
    CHECK(text.size() < 1000);
    CHECK(error_of(std::string(1'000'000, '1')).size() < 1000);
    std::string const member = error_of(R"({"format": "sdpa-graph", "version": 1, "tensors": {}, "nodes": [], ")" +
                                        repeated("\\u0000\xc3\xa9", 100'000) + "\": 1}");
    CHECK(member.size() < 1000);
    CHECK(member.find('\0') == std::string::npos);
}

TEST_CASE("json: a document cut anywhere is an error") {
    std::string const text = json::write_graph(test::attention_spec());
    for (std::size_t length = 0; length + 2 < text.size(); ++length) {
        CAPTURE(length);
        CHECK(contains(error_of(std::string_view(text).substr(0, length)), ": found "));
    }
}

TEST_CASE("json: a document with changed bytes is an error or a graph") {
    std::string const texts[] = {json::write_graph(test::random_spec(7)), json::write_graph(test::attention_spec())};
    std::string const alphabet = "{}[]\",:0123456789-+.eEtrufalsn\\\x7f\xc3\xa9\xff \n";
    std::mt19937 random(20'240);
    for (int round = 0; round < 6000; ++round) {
        CAPTURE(round);
        std::string text = texts[round % 2];
        for (auto changes = 1 + random() % 3; changes > 0; --changes) {
            std::size_t const at = random() % text.size();
            char const byte = random() % 2 == 0 ? alphabet[random() % alphabet.size()] : static_cast<char>(random());
            switch (random() % 3) {
                case 0: text[at] = byte; break;
                case 1: text.insert(at, 1, byte); break;
                default: text.erase(at, 1 + random() % 8);
            }
            if (text.empty()) break;
        }
        check_survives(text);
    }
}
