#include "rewrite/offers.h"

#include "core/names.h"
#include "rewrite/rewrites/rewrites.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

namespace cudnn_frontend::rewrite {
namespace {

// A program that is expected to take more than this share of the graph's time is left out: estimates err. They err less
// where the program and the graph were measured as they are.
constexpr double kLargestShare = 0.85, kLargestShareOfMeasured = 0.95;
// More queries fill GPUs by themselves.
constexpr std::int64_t kMostQueries = 2048;
constexpr std::int64_t kMostSplits = 128;  // as GPUs have multiprocessors, or a few more
constexpr std::int64_t kRowsOfTile = 128;
constexpr std::int64_t kFewestKeysOfSplit = 256;

// Programs with all numbers of splits that are powers of two, or the reason why there is none.
Result<std::vector<Program>> all_few_queries(Attention const& attention) {
    std::vector<Program> programs;
    error_t refusal;
    for (std::int64_t splits = 1; splits <= kMostSplits; splits *= 2) {
        if (splits > 1 && attention.keys / splits < kFewestKeysOfSplit) break;
        auto program = few_queries(attention, splits);
        if (program.is_good()) programs.push_back(std::move(program).value());
        else if (refusal.is_good()) refusal = program.error();
    }
    if (programs.empty()) return refusal;
    return programs;
}

// The number of splits that fills a GPU with tiles.
std::int64_t usual_splits(Attention const& a) {
    std::int64_t const rows = a.group() * a.queries;
    std::int64_t const tiles = a.batches * a.key_heads * ((rows + kRowsOfTile - 1) / kRowsOfTile);
    std::int64_t splits = 1;
    while (splits * 2 * tiles <= kMostSplits && a.keys / (splits * 2) >= kFewestKeysOfSplit) splits *= 2;
    return splits;
}

std::string text(double microseconds) { return "about " + std::to_string(std::lround(microseconds)) + " us"; }

// A program that may be faster than the graph as given, and at most by which share of its time it is offered.
struct Option {
    Program program;
    double largest_share = kLargestShare;
};

void add_if_there(std::vector<Option>& options, Result<Program> program, double largest_share = kLargestShare) {
    if (program.is_good()) options.push_back({std::move(program).value(), largest_share});
}

class Collector {
   public:
    Collector(nodes::ValidatedGraph const& graph, Costs const& costs)
        : graph_(graph), attention_(Attention::of(graph)), costs_(costs) {}

    // One that the user listed, expected to be faster or not.
    void add(Rewrite_t rewrite) {
        if (!attention_ && rewrite != Rewrite_t::NEIGHBORHOOD_BAND) {
            return add(no_attention(core::name_of(rewrite)));
        }
        switch (rewrite) {
            case Rewrite_t::SLICES: return add_slices(offers_.preferred);
            case Rewrite_t::FEW_QUERIES: return add_few_queries();
            case Rewrite_t::BANDS: return add(bands(*attention_));
            case Rewrite_t::NEIGHBORHOOD_BAND: return add(neighborhood_band(graph_));
        }
    }

    // Adds the programs that save workspace, which come after the graph as it is.
    void add_spare() {
        if (attention_) add_slices(offers_.spare);
    }

    // The fastest, if it is expected to be faster than the graph as given by more than estimates err.
    void add_what_pays() {
        std::vector<Option> options = options_for_speed();
        auto const given = options.empty() ? std::nullopt : costs_.of(graph_);
        if (!given) return;
        std::optional<Program> best;
        double least = *given;
        for (auto& [program, largest_share] : options) {
            auto const cost = cost_of(program, costs_);
            if (!cost) continue;
            offers_.remarks.push_back(program.name + ": " + text(*cost) + ", as given: " + text(*given));
            if (*cost < least && *cost < largest_share * *given) least = *cost, best = std::move(program);
        }
        if (best) offers_.preferred.push_back(std::move(*best));
    }

    Offers take() { return std::move(offers_); }

   private:
    void add(Result<Program> program) {
        if (program.is_good()) offers_.preferred.push_back(std::move(program).value());
        else offers_.remarks.push_back(program.error().err_msg);
    }

    void add_slices(std::vector<Program>& to) {
        if (error_t error = check("slices", slices_conditions(), *attention_); error.is_bad()) {
            offers_.remarks.push_back(std::move(error.err_msg));
            return;
        }
        for (std::int64_t const count : slice_counts(*attention_)) {
            auto program = slices(*attention_, count);
            if (program.is_good()) to.push_back(std::move(program).value());
        }
    }

    // All, so that autotuning has a choice; the best by cost first, or where no costs are known that of the usual
    // splits.
    void add_few_queries() {
        auto programs = all_few_queries(*attention_);
        if (programs.is_bad()) return add(programs.error());
        std::string const usual = "few_queries(" + std::to_string(usual_splits(*attention_)) + ")";
        auto const cost = [&](Program const& program) {
            return cost_of(program, costs_).value_or(program.name == usual ? 0.0 : 1.0);
        };
        std::ranges::stable_sort(programs.value(), {}, cost);
        for (Program& program : programs.value()) offers_.preferred.push_back(std::move(program));
    }

    // Whether more rows in a tile, or more blocks, may pay. Engines for one query pack and split by themselves, but
    // only so many heads.
    bool may_pay_in_few_queries() const {
        constexpr std::int64_t kHeadsOfDecode = 16;
        Attention const& a = *attention_;
        if (a.queries > kMostQueries) return false;
        if (a.queries == 1) return a.group() > kHeadsOfDecode;
        auto const tiles = [](std::int64_t rows) { return (rows + kRowsOfTile - 1) / kRowsOfTile; };
        std::int64_t const given = a.batches * a.query_heads * tiles(a.queries);
        return given < kMostSplits || a.batches * a.key_heads * tiles(a.group() * a.queries) < given;
    }

    std::vector<Option> options_for_speed() const {
        std::vector<Option> options;
        if (!attention_) {
            add_if_there(options, neighborhood_band(graph_));
        } else if (attention_->is_backward()) {
            add_if_there(options, bands(*attention_));
            add_if_there(options, deterministic(*attention_), kLargestShareOfMeasured);
        } else if (may_pay_in_few_queries()) {
            auto all = all_few_queries(*attention_);
            if (all.is_bad()) return {};
            for (Program& program : all.value()) options.push_back({std::move(program)});
        }
        return options;
    }

    nodes::ValidatedGraph const& graph_;
    std::optional<Attention> attention_;
    Costs const& costs_;
    Offers offers_;
};

// few_queries(8): the number; nothing if that is not how the name is written.
std::optional<std::int64_t> parameter_of(std::string const& name, std::string const& rewrite) {
    if (!name.starts_with(rewrite + "(") || !name.ends_with(")")) return {};
    char const* const end = name.data() + name.size() - 1;
    std::int64_t number = 0;
    auto const parsed = std::from_chars(name.data() + rewrite.size() + 1, end, number);
    return parsed.ptr == end && number > 0 ? std::optional(number) : std::nullopt;
}

}  // namespace

Offers offers_for(nodes::ValidatedGraph const& graph, Circumstances const& circumstances) {
    Wishes const& wishes = circumstances.wishes;
    if (!wishes.listed && wishes.policy == RewritePolicy_t::OFF) return {};
    Collector collector(graph, circumstances.costs);
    if (wishes.listed) {
        for (Rewrite_t const rewrite : *wishes.listed) collector.add(rewrite);
        return collector.take();
    }
    collector.add_what_pays();
    if (circumstances.is_workspace_limited) collector.add_spare();
    return collector.take();
}

Result<Program> program_named(nodes::ValidatedGraph const& graph, std::string const& name) {
    if (name == "neighborhood_band") return neighborhood_band(graph);
    if (auto const attention = Attention::of(graph)) {
        if (name == "bands") return bands(*attention);
        if (name == kNameOfClasses) return classes(*attention);
        if (name == "converted") return converted(*attention);
        if (name == "deterministic") return deterministic(*attention);
        if (auto const splits = parameter_of(name, "few_queries")) return few_queries(*attention, *splits);
        if (auto const count = parameter_of(name, "slices")) return slices(*attention, *count);
    }
    return error_t(error_code_t::GRAPH_NOT_SUPPORTED,
                   "the stored plan is of the program '" + name + "', which this library does not make of the graph");
}

}  // namespace cudnn_frontend::rewrite
