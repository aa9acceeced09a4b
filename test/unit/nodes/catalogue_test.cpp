// Each rule's id is in its table, in docs/spec.md with the same statement, and in the name of a test.
#include "graphs.h"
#include "nodes/schema/rule.h"
#include "nodes/validation/validate.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

using namespace test;

namespace {

struct Family {
    std::string prefix;
    std::vector<Rule> rules;
};

// Numbers of rules that no longer hold, which no other rule gets.
constexpr std::pair<char const*, int> kRetired[] = {{"sdpa_fwd", 22}, {"sdpa_bwd", 22}};

bool is_retired(std::string const& prefix, int number) {
    return std::ranges::any_of(kRetired,
                               [&](auto const& rule) { return rule.first == prefix && rule.second == number; });
}

// The tables of the graph and of each kind of node; the functions of neighborhood attention share one.
std::vector<std::span<Rule const>> tables() {
    std::vector<std::span<Rule const>> found{graph_rules()};
    for (NodeSchema const* schema : all_schemas()) {
        std::span<Rule const> const rules = schema->rules();
        auto const is_same = [&](std::span<Rule const> other) { return other.data() == rules.data(); };
        if (std::ranges::none_of(found, is_same)) found.push_back(rules);
    }
    return found;
}

// Rules with one prefix, in the order of the tables.
std::vector<Family> families() {
    std::vector<Family> found;
    for (std::span<Rule const> const rules : tables()) {
        for (Rule const& rule : rules) {
            std::string const id = rule.id, prefix = id.substr(0, id.find('.'));
            auto family = std::ranges::find(found, prefix, &Family::prefix);
            if (family == found.end()) family = found.insert(found.end(), {prefix, {}});
            family->rules.push_back(rule);
        }
    }
    return found;
}

std::string read(std::filesystem::path const& path) {
    std::ostringstream content;
    content << std::ifstream(path).rdbuf();
    return content.str();
}

std::filesystem::path source(char const* path) { return std::filesystem::path(SDPA_SOURCE_DIR) / path; }

std::string names_of_tests() {
    std::string names;
    for (auto const& entry : std::filesystem::directory_iterator(source("test/unit/nodes"))) {
        std::istringstream lines(read(entry.path()));
        for (std::string line; std::getline(lines, line);) {
            if (line.starts_with("TEST_CASE(")) names += line + "\n";
        }
    }
    return names;
}

// The line of the specification with the rule in its first column; empty if there is none.
std::string row_of(std::string const& specification, std::string const& id) {
    std::istringstream lines(specification);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("| `" + id + "`")) return line;
    }
    return {};
}

// Ids in the order of the text, such as graph.c07.
std::set<std::string> ids_in(std::string const& text) {
    std::set<std::string> ids;
    for (Family const& family : families()) {
        std::string const start = family.prefix + ".c";
        for (std::size_t at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) {
            ids.insert(text.substr(at, start.size() + 2));
        }
    }
    return ids;
}

}  // namespace

TEST_CASE("rules are numbered without gaps but those of retired ones, and say what they need") {
    CHECK(tables().size() >= 10);
    CHECK(families().size() >= tables().size());  // one of each table at least
    for (Family const& family : families()) {
        int number = 0;
        for (Rule const& rule : family.rules) {
            do ++number;
            while (is_retired(family.prefix, number));
            CHECK(rule.id == family.prefix + (number < 10 ? ".c0" : ".c") + std::to_string(number));
            CHECK(std::string(rule.summary).back() == '.');
            CHECK(rule.code != error_code_t::OK);
            CHECK(rule.check != nullptr);
        }
    }
}

TEST_CASE("each rule stands in docs/spec.md with its condition and code") {
    std::string const specification = read(source("docs/spec.md"));
    REQUIRE_FALSE(specification.empty());
    for (Family const& family : families()) {
        for (Rule const& rule : family.rules) {
            CAPTURE(rule.id);
            std::string const row = row_of(specification, rule.id);
            CHECK(row.find(rule.summary) != std::string::npos);
            CHECK(row.find(to_string(rule.code)) != std::string::npos);
        }
    }
}

TEST_CASE("advice is numbered without gaps, is no error, and stands in docs/spec.md with its words") {
    std::string const specification = read(source("docs/spec.md"));
    int number = 0;
    for (std::span<Rule const> const advice : {attention_advice(), pointwise_advice()}) {
        for (Rule const& rule : advice) {
            CAPTURE(rule.id);
            ++number;
            CHECK(rule.id == std::string(number < 10 ? "advice.a0" : "advice.a") + std::to_string(number));
            CHECK(rule.code == error_code_t::OK);
            CHECK(row_of(specification, rule.id).find(rule.summary) != std::string::npos);
        }
    }
    CHECK(number > 0);
}

TEST_CASE("each rule is named by a test, and each id that a test or docs/spec.md names is a rule") {
    std::set<std::string> rules;
    for (Family const& family : families()) {
        for (Rule const& rule : family.rules) rules.insert(rule.id);
    }
    CHECK(ids_in(names_of_tests()) == rules);
    CHECK(ids_in(read(source("docs/spec.md"))) == rules);
}
