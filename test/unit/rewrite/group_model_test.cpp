// The table of expected times in docs/several-gpus.md, which is made of the model.
#include "core/text.h"
#include "group/threads.h"
#include "rewrite/group/way_costs.h"
#include "support/catch.h"
#include "unit/rewrite/attention_graphs.h"

#include <cmath>
#include <fstream>
#include <sstream>

using namespace test;

namespace {

namespace group = cudnn_frontend::group;
using group::Layout;

struct Row {
    int ranks;
    double gigabytes_per_s;
    std::int64_t tokens, heads, key_heads;
};

constexpr Row kRows[] = {
    {2, 250, 65536, 16, 16}, {4, 250, 32768, 64, 8},   {4, 250, 131072, 64, 8},   {4, 250, 131072, 64, 64},
    {8, 250, 32768, 64, 8},  {8, 250, 131072, 64, 8},  {8, 250, 131072, 64, 64},  {8, 250, 1048576, 64, 8},
    {64, 50, 131072, 64, 8}, {64, 50, 1048576, 64, 8}, {64, 50, 1048576, 64, 64},
};

std::string with_tenths(double number) {
    long const tenths = std::lround(10.0 * number);
    return core::text(tenths / 10, ".", tenths % 10);
}
std::string percent(double share) { return with_tenths(100.0 * share); }

class Prediction {
   public:
    Prediction(Row const& row, bool is_backward)
        : row_(row),
          layout_(Layout::head_tail(row.tokens, row.ranks)),
          task_{group::make_described(0, row.ranks), layout_, layout_},
          part_(graph(is_backward)),
          rates_{.bytes_per_us = row.gigabytes_per_s * 1e3} {}

    std::string received() const {
        double most = 0.0;
        for (int rank = 0; rank < row_.ranks; ++rank) {
            auto const all = rewrite::received_by_gather(*part_, task_, rank);
            most = std::max(most, all.keys + all.gradients);
        }
        return std::to_string(std::lround(most / 1e6));
    }
    std::string gather(int stages) const {
        return percent(rewrite::time_of_gather(*part_, task_, stages, rates_).efficiency());
    }
    std::string all_to_all() const {
        if (row_.key_heads % row_.ranks != 0) return "-";
        return percent(rewrite::time_of_all_to_all(*part_, task_, rates_).efficiency());
    }
    std::string ring() const { return percent(rewrite::time_of_ring(*part_, task_, rates_).efficiency()); }
    // The scratch in GB.
    std::string scratch() const { return with_tenths(rewrite::scratch_of_gather(*part_, task_, 1) / 1e9); }

   private:
    TestGraph graph(bool is_backward) const {
        Problem const sizes{.heads = row_.heads,
                            .key_heads = row_.key_heads,
                            .queries = layout_.count_of(0),
                            .keys = layout_.count_of(0),
                            .columns = 128};
        TestGraph made = is_backward ? backward_graph(sizes) : forward_graph(sizes);
        made.attention_options().right_bound = 0;
        return made;
    }

    Row row_;
    Layout layout_;
    group::Task task_;
    Rewritable part_;
    rewrite::GroupRates rates_;
};

std::string line_of(Row const& row) {
    Prediction const forward(row, false), backward(row, true);
    return core::text("| ", row.ranks, " | ", static_cast<std::int64_t>(row.gigabytes_per_s), " | ", row.tokens, " | ",
                      row.heads, "/", row.key_heads, " | ", forward.received(), " / ", backward.received(), " | ",
                      forward.gather(1), " / ", backward.gather(1), " | ", forward.gather(4), " / ", backward.gather(4),
                      " | ", forward.all_to_all(), " / ", backward.all_to_all(), " | ", forward.ring(), " / ",
                      backward.ring(), " | ", forward.scratch(), " / ", backward.scratch(), " |");
}

}  // namespace

TEST_CASE("groups: the table of expected times is the model's") {
    std::ifstream file(SDPA_SOURCE_DIR "/docs/several-gpus.md");
    std::stringstream text;
    text << file.rdbuf();
    for (Row const& row : kRows) CHECK_THAT(text.str(), Catch::Contains(line_of(row)));
}

TEST_CASE("groups: every way computes the pairs of a window, each once") {
    constexpr std::int64_t kTokens = 65536, kWindow = 4096, kRanks = 4;
    Layout const layout = Layout::contiguous(kTokens, kRanks);
    group::Task const task{group::make_described(0, kRanks), layout, layout};
    TestGraph made =
        forward_graph({.heads = 16, .queries = kTokens / kRanks, .keys = kTokens / kRanks, .columns = 128});
    made.attention_options().left_bound = kWindow;  // so many keys, with the query's own
    made.attention_options().right_bound = 0;
    Rewritable const part(made);
    rewrite::GroupRates const rates;
    double const pairs = kWindow * (kWindow + 1) / 2.0 + static_cast<double>(kTokens - kWindow) * kWindow;
    double const ideal = pairs * 16 * 4 * 128 / rates.forward_flops_per_us / kRanks;
    CHECK(rewrite::time_of_gather(*part, task, 1, rates).attention == Approx(ideal).epsilon(1e-3));
    CHECK(rewrite::time_of_all_to_all(*part, task, rates).attention == Approx(ideal).epsilon(1e-3));
    CHECK(rewrite::time_of_ring(*part, task, rates).attention == Approx(ideal).epsilon(1e-3));
}

TEST_CASE("groups: queries behind the last key of a window count nothing") {
    constexpr std::int64_t kQueries = 65536, kKeys = 16384, kWindow = 4096, kRanks = 4;
    Layout const queries = Layout::contiguous(kQueries, kRanks), keys = Layout::contiguous(kKeys, kRanks);
    group::Task const task{group::make_described(0, kRanks), queries, keys};
    TestGraph made = forward_graph(
        {.heads = 16, .key_heads = 16, .queries = kQueries / kRanks, .keys = kKeys / kRanks, .columns = 128});
    made.attention_options().left_bound = kWindow;
    made.attention_options().right_bound = 0;
    Rewritable const part(made);
    rewrite::GroupRates const rates;
    double const ideal = static_cast<double>(kKeys) * kWindow * 16 * 4 * 128 / rates.forward_flops_per_us / kRanks;
    CHECK(rewrite::time_of_gather(*part, task, 1, rates).attention == Approx(ideal).epsilon(1e-3));
    CHECK(rewrite::time_of_all_to_all(*part, task, rates).attention == Approx(ideal).epsilon(1e-3));
}
