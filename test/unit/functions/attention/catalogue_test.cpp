// Each rule's id is in its table, in docs/attention-functions.md with the same statement, and in no other place than
// these say.
#include "functions/attention/rules.h"
#include "support/catch.h"

#include <fstream>
#include <iterator>
#include <vector>

using cudnn_frontend::core::Rule;

namespace {

std::vector<Rule> all_rules() {
    namespace attention = sdpa_graph::attention;
    std::vector<Rule> rules;
    for (auto const& part : {attention::argument_rules(), attention::content_rules()})
        rules.insert(rules.end(), part.begin(), part.end());
    rules.push_back(attention::memory_rule());
    return rules;
}

std::string page() {
    std::ifstream file(SDPA_SOURCE_DIR "/docs/attention-functions.md");
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE(
    "rules of the attention functions are numbered without gaps, and stand in docs/attention-functions.md with "
    "condition and "
    "code") {
    std::string const text = page();
    int number = 0;
    for (Rule const& rule : all_rules()) {
        ++number;
        CHECK(rule.id == std::string(number < 10 ? "attention.c0" : "attention.c") + std::to_string(number));
        std::string const row = std::string("| `") + rule.id + "` | " + rule.summary + " | " +
                                cudnn_frontend::core::name_of(rule.code) + " |\n";
        CAPTURE(row);
        CHECK(text.find(row) != std::string::npos);
    }
}
