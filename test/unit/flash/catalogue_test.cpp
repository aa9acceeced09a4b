// Each rule's id is in its table, in docs/flash.md with the same statement, and in no other place than these say.
#include "flash/checks/rules.h"
#include "support/catch.h"

#include <fstream>
#include <iterator>
#include <vector>

using cudnn_frontend::core::Rule;

namespace {

std::vector<Rule> all_rules() {
    std::vector<Rule> rules;
    for (auto const& part : {sdpa_graph::flash::argument_rules(), sdpa_graph::flash::content_rules()})
        rules.insert(rules.end(), part.begin(), part.end());
    rules.push_back(sdpa_graph::flash::memory_rule());
    return rules;
}

std::string page() {
    std::ifstream file(SDPA_SOURCE_DIR "/docs/flash.md");
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("flash rules are numbered without gaps, and stand in docs/flash.md with condition and code") {
    std::string const text = page();
    int number = 0;
    for (Rule const& rule : all_rules()) {
        ++number;
        CHECK(rule.id == std::string(number < 10 ? "flash.c0" : "flash.c") + std::to_string(number));
        std::string const row = std::string("| `") + rule.id + "` | " + rule.summary + " | " +
                                cudnn_frontend::core::name_of(rule.code) + " |\n";
        CAPTURE(row);
        CHECK(text.find(row) != std::string::npos);
    }
}
