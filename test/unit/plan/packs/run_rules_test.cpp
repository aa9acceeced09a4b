// The rules on runs stand in docs/spec.md with condition and code.
#include "plan/packs/run_rules.h"
#include "core/names.h"
#include "support/catch.h"

#include <fstream>
#include <iterator>

using namespace cudnn_frontend;
using namespace cudnn_frontend::plan::run_rules;

TEST_CASE("each rule on runs has a row in docs/spec.md") {
    std::ifstream file(SDPA_SOURCE_DIR "/docs/spec.md");
    std::string const page(std::istreambuf_iterator<char>(file), {});
    for (core::Rule const& rule :
         {kLengths, kOffsets, kTotals, kPages, kFactors, kEntries, kAlignment, kOverlap, kWorkspace}) {
        std::string const row =
            std::string("| `") + rule.id + "` | " + rule.summary + " | " + core::name_of(rule.code) + " | ";
        CAPTURE(row);
        CHECK(page.find(row) != std::string::npos);
    }
}
