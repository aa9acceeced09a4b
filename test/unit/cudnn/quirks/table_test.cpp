// The table of quirks as data, and the messages made from it.
#include "cudnn/quirks/support.h"

#include "support/catch.h"
#include "unit/cudnn/quirks/limit_graphs.h"

#include <algorithm>
#include <functional>
#include <map>

using test::AttentionGraph;
using test::with_modifier;
namespace quirks = cudnn_frontend::quirks;
using cudnn_frontend::DataType_t;
using cudnn_frontend::PointwiseMode_t;
using quirks::Evidence;
using quirks::Quirk;
using quirks::Verdict;
using Port = cudnn_frontend::nodes::attention::Port;

namespace {

std::string text_of(AttentionGraph const& graph, quirks::Capabilities const& here) {
    return quirks::check(test::validated(graph.spec), here).to_text();
}

AttentionGraph with_block_mask(AttentionGraph graph) {
    return graph.connect(Port::BlockMask, DataType_t::UINT8, {2, 4, 1, 1});
}

}  // namespace

TEST_CASE("each row of the table of quirks is complete", "[support]") {
    for (Quirk const& quirk : quirks::quirks()) {
        CAPTURE(quirk.id, quirk.summary);
        bool const is_rewrite = quirk.verdict == Verdict::Rewrite;
        CHECK(std::string(quirk.summary) != "");
        CHECK(std::string(quirk.fix) != "");
        CHECK((quirk.check == nullptr) == is_rewrite);
        CHECK((std::string(quirk.pass) == "") == !is_rewrite);
        CHECK((quirk.cudnn.until == 0 || quirk.cudnn.from < quirk.cudnn.until));
        char const kind = quirk.verdict == Verdict::Refuse ? 's' : is_rewrite ? 'w' : 'e';
        CHECK(std::string(quirk.id).substr(0, 7) == std::string("cudnn.") + kind);
        // A quirk that was seen was in force then; one that NVIDIA states was not seen.
        bool const was_told = quirk.evidence == Evidence::ToldByNvidia;
        bool const was_seen = quirk.verified.cudnn_version != 0;
        CHECK_FALSE((was_told && was_seen));
        CHECK(quirk.verified.where.empty() == !was_seen);
        CHECK((was_told || was_seen || std::string(quirk.seen) != ""));
        CHECK((!was_seen || quirk.cudnn.contain(quirk.verified.cudnn_version)));
    }
}

TEST_CASE("the table of quirks is in the order of ids, and an id has one verdict", "[support]") {
    auto const table = quirks::quirks();
    CHECK(std::ranges::is_sorted(table, {}, [](Quirk const& quirk) { return std::string_view(quirk.id); }));
    std::map<std::string, Verdict> verdicts;
    for (Quirk const& quirk : table) CHECK(verdicts.emplace(quirk.id, quirk.verdict).first->second == quirk.verdict);
}

TEST_CASE("releases and architectures say where a quirk stands", "[support]") {
    CHECK(quirks::to_text(quirks::Versions{}) == "every");
    CHECK(quirks::to_text(quirks::Versions{0, 91500}) == "before 9.15.0");
    CHECK(quirks::to_text(quirks::Versions{91900, 0}) == "from 9.19.0");
    CHECK(quirks::to_text(quirks::Versions{91100, 91300}) == "9.11.0 to below 9.13.0");
    CHECK(quirks::Versions{91100, 91300}.contain(91100));
    CHECK(quirks::Versions{91100, 91300}.contain(91299));
    CHECK_FALSE(quirks::Versions{91100, 91300}.contain(91300));
    CHECK_FALSE(quirks::Versions{91100, 91300}.contain(91099));
    CHECK(quirks::kEvery.to_text() == "every");
    CHECK((quirks::kEvery - quirks::kHopper).to_text() == "before 8.0, 8.x, 10.x and 11.x, 12.x");
    CHECK((quirks::kAmpere | quirks::kHopper).contain(89));
    CHECK_FALSE((quirks::kAmpere | quirks::kHopper).contain(100));
    CHECK(quirks::kDatacenterBlackwell.contain(110));
    CHECK(quirks::kConsumerBlackwell.contain(121));
    CHECK(quirks::kOlder.contain(75));
}

TEST_CASE("a limit says what is needed in this place, and nothing of others", "[support]") {
    auto const column = with_modifier(PointwiseMode_t::MUL, {2, 1, 6, 1});
    CHECK(text_of(column, {.cudnn_version = 91900, .sm = 89})
              .find("a value for each query or batch entry, on compute capability 8.9 with cuDNN 9.19.0; expected "
                    "modifiers without values for queries or batch entries in backward; per-head values do not count. "
                    "Try:") != std::string::npos);
    AttentionGraph const masked = with_block_mask(AttentionGraph::forward());
    CHECK(text_of(masked, {.cudnn_version = 91900, .sm = 90}) ==
          "[cudnn.s55] node 'sdpa', tensor 'block_mask': found a block mask on compute capability 9.0 with cuDNN "
          "9.19.0; expected compute capability 10.x for a block mask. Try: give the same mask as a bias of 0 and minus "
          "infinity. This limit holds in every release of cuDNN, on compute capability before 8.0, 8.x, 9.0, 12.x: "
          "docs/cudnn-quirks.md.\n");
    CHECK(text_of(with_block_mask(AttentionGraph::forward().padding()), {.cudnn_version = 91400, .sm = 100}) ==
          "[cudnn.s55] node 'sdpa', tensor 'block_mask': found a block mask with a padding mask on compute "
          "capability 10.0 with cuDNN 9.14.0; expected cuDNN 9.15 or newer for a block mask with a padding mask. Try: "
          "install 9.15 or newer, or give the same mask as a bias of 0 and minus infinity. This limit holds with cuDNN "
          "before 9.15.0, on compute capability 10.x and 11.x: docs/cudnn-quirks.md.\n");
}

TEST_CASE("limits on heads of backward name the largest of the device at hand", "[support]") {
    auto const needed = [](std::int64_t dim, int sm) {
        auto const graph = test::with_head_dims(AttentionGraph::backward(), dim, dim);
        return quirks::check(test::validated(graph.spec), {.cudnn_version = 91900, .sm = sm}).findings().at(0).needed;
    };
    CHECK(needed(264, 90) == "head dims up to 256 in backward");
    CHECK(needed(136, 80) == "head dims up to 128 in backward");
    CHECK(needed(192, 100) == "head dims up to 128 in backward, or 192 of Q and K with 128 of V");
}

TEST_CASE("a node violates each id once, however many rows it has", "[support]") {
    auto graph = AttentionGraph::forward().padding();
    auto const found = quirks::violations(test::validated(with_block_mask(graph).spec),
                                          {.cudnn_version = 91300, .sm = 100});  // two rows of s55 hold
    REQUIRE(found.size() == 1);
    CHECK(found[0].quirk->summary == std::string("cuDNN 9.14 or newer for a block mask"));
}

TEST_CASE("whether asking cuDNN ends the process, and whether engines may be found, follows from the evidence") {
    auto const row = [](std::string const& id, auto is_meant) {
        auto const found = std::ranges::find_if(quirks::quirks(),
                                                [&](Quirk const& quirk) { return quirk.id == id && is_meant(quirk); });
        REQUIRE(found != quirks::quirks().end());
        return *found;
    };
    auto const any = [](Quirk const&) { return true; };
    auto const from_9_21_1 = [](Quirk const& quirk) { return quirk.cudnn.from == 92101; };
    for (char const* const id : {"cudnn.s62", "cudnn.s75"}) {
        CHECK(quirks::is_fatal_to_ask(row(id, from_9_21_1)));
        CHECK_FALSE(quirks::is_fatal_to_ask(row(id, std::not_fn(from_9_21_1))));
        CHECK_FALSE(quirks::may_have_engines(row(id, from_9_21_1)));
    }
    CHECK_FALSE(quirks::is_fatal_to_ask(row("cudnn.s22", any)));  // it faults in a run
    CHECK(quirks::may_have_engines(row("cudnn.s22", any)));
    CHECK_FALSE(quirks::may_have_engines(row("cudnn.s04", any)));
    CHECK_FALSE(quirks::may_have_engines(row("cudnn.s11", any)));
    auto const crashes = [](Quirk const& quirk) { return quirk.evidence == Evidence::Crash; };
    CHECK(quirks::is_fatal_to_ask(row("cudnn.s92", crashes)));
    CHECK_FALSE(quirks::is_fatal_to_ask(row("cudnn.s92", std::not_fn(crashes))));
}

TEST_CASE("cudnn.w13 and w11: a quirk is in force where one of its rows stands", "[support]") {
    auto const on = [](std::size_t version, int sm) {
        return quirks::Capabilities{.cudnn_version = version, .sm = sm};
    };
    CHECK_FALSE(quirks::is_in_force("cudnn.w13", on(91900, 90)));
    CHECK_FALSE(quirks::is_in_force("cudnn.w13", on(92800, 90)));
    CHECK(quirks::is_in_force("cudnn.w13", on(91899, 90)));
    CHECK(quirks::is_in_force("cudnn.w13", on(91900, 100)));
    CHECK(quirks::is_in_force("cudnn.w13", on(91900, 80)));
    for (int const sm : {90, 100, 103, 110}) CHECK(quirks::is_in_force("cudnn.w11", on(91900, sm)));
    for (int const sm : {80, 89, 120}) CHECK_FALSE(quirks::is_in_force("cudnn.w11", on(91900, sm)));
}
