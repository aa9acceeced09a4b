#include "rewrite/offers.h"

#include "rewrite/bands.h"
#include "rewrite/few_queries.h"
#include "rewrite/slices.h"

#include <algorithm>
#include <charconv>

namespace cudnn_frontend::rewrite {
namespace {

// Each split of a head gets a multiprocessor, on GPUs of this many or a few more.
constexpr std::int64_t kMultiprocessors = 128;
constexpr std::int64_t kRowsOfTile = 128;
constexpr std::int64_t kFewestKeysOfSplit = 256;

// A power of two that fills the GPU once.
std::int64_t best_splits(Attention const& a) {
    std::int64_t const rows = a.group() * a.queries;
    std::int64_t const tiles = a.batches * a.key_heads * ((rows + kRowsOfTile - 1) / kRowsOfTile);
    std::int64_t splits = 1;
    while (splits * 2 * tiles <= kMultiprocessors && a.keys / (splits * 2) >= kFewestKeysOfSplit) splits *= 2;
    return splits;
}

// With fewer splits where strides do not allow so many.
Result<Program> best_few_queries(Attention const& attention) {
    std::int64_t splits = best_splits(attention);
    Result<Program> program = few_queries(attention, splits);
    while (program.is_bad() && splits > 1) program = few_queries(attention, splits /= 2);
    return program;
}

class Collector {
   public:
    Collector(Attention const& attention, Offers& offers) : attention_(attention), offers_(offers) {}

    void add(Rewrite_t rewrite) {
        switch (rewrite) {
            case Rewrite_t::SLICES: return add_slices(offers_.preferred);
            case Rewrite_t::FEW_QUERIES: return add(best_few_queries(attention_), offers_.preferred);
            case Rewrite_t::BANDS: return add(bands(attention_), offers_.preferred);
        }
    }

    void add_slices(std::vector<Program>& to) {
        if (error_t error = check("slices", slices_conditions(), attention_); error.is_bad()) {
            offers_.reasons.push_back(std::move(error.err_msg));
            return;
        }
        for (std::int64_t const count : slice_counts(attention_)) add(slices(attention_, count), to);
    }

   private:
    void add(Result<Program> program, std::vector<Program>& to) {
        if (program.is_good()) to.push_back(std::move(program).value());
        else offers_.reasons.push_back(program.error().err_msg);
    }

    Attention const& attention_;
    Offers& offers_;
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

Offers offers_for(nodes::ValidatedGraph const& graph, Wishes const& wishes, bool is_workspace_limited) {
    Offers offers;
    bool const is_off = !wishes.listed && wishes.policy == RewritePolicy_t::OFF;
    auto const attention = is_off ? std::nullopt : Attention::of(graph);
    if (!attention) return offers;
    Collector collector(*attention, offers);
    if (wishes.listed) {
        for (Rewrite_t const rewrite : *wishes.listed) collector.add(rewrite);
    } else if (is_workspace_limited) {
        collector.add_slices(offers.spare);
        offers.reasons.clear();  // nobody asked for slices
    }
    return offers;
}

Result<Program> program_named(nodes::ValidatedGraph const& graph, std::string const& name) {
    if (auto const attention = Attention::of(graph)) {
        if (name == "bands") return bands(*attention);
        if (auto const splits = parameter_of(name, "few_queries")) return few_queries(*attention, *splits);
        if (auto const count = parameter_of(name, "slices")) return slices(*attention, *count);
    }
    return error_t(error_code_t::GRAPH_NOT_SUPPORTED,
                   "the stored plan is of the program '" + name + "', which this library does not make of the graph");
}

}  // namespace cudnn_frontend::rewrite
