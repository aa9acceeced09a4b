// Each rule's id is in its table, in docs/neighborhood-functions.md with the same statement, and in no other place than
// these say.
#include "neighborhood/rules.h"
#include "support/catch.h"

#include <fstream>
#include <iterator>
#include <vector>

using cudnn_frontend::core::Rule;

namespace {

std::vector<Rule> all_rules() {
    auto const rules = sdpa_graph::neighborhood::rules();
    std::vector<Rule> conditions(rules.begin(), rules.end());
    conditions.push_back(sdpa_graph::neighborhood::memory_rule());
    return conditions;
}

std::string page() {
    std::ifstream file(SDPA_SOURCE_DIR "/docs/neighborhood-functions.md");
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE(
    "rules of the neighborhood functions are numbered without gaps, and stand in docs/neighborhood-functions.md with "
    "condition "
    "and code") {
    std::string const text = page();
    int number = 0;
    for (Rule const& rule : all_rules()) {
        ++number;
        CHECK(rule.id == std::string(number < 10 ? "na.c0" : "na.c") + std::to_string(number));
        std::string const row = std::string("| `") + rule.id + "` | " + rule.summary + " | " +
                                cudnn_frontend::core::name_of(rule.code) + " |\n";
        CAPTURE(row);
        CHECK(text.find(row) != std::string::npos);
    }
}
