#include "rewrite/rewrites/rewrites.h"

#include "rewrite/program_builder.h"
#include "rewrite/view_moves.h"

#include <algorithm>

namespace cudnn_frontend::rewrite {
namespace {

using attention::Port;
using enum error_code_t;

constexpr char const* kName = "bands";
constexpr std::size_t kRows = 2;

// Query i sees the keys from i + first to i + last, both included.
struct KeyBand {
    std::int64_t first, last;
};

KeyBand band_of(Attention const& a) {
    nodes::AttentionFields const& fields = a.fields();
    bool const is_at_end = fields.diagonal_alignment == DiagonalAlignment_t::BOTTOM_RIGHT;
    std::int64_t const shift = is_at_end ? a.keys - a.queries : 0;
    return {shift + 1 - fields.left_bound.value_or(0), shift + fields.right_bound.value_or(0)};
}

constexpr Condition kConditions[] = {
    {"bands.c01", "backward attention", GRAPH_NOT_SUPPORTED, [](Attention const& a) { return a.is_backward(); }},
    {"bands.c02", "no operands but Q, K, V, O, dO, Stats, attn_scale, dQ, dK and dV", GRAPH_NOT_SUPPORTED,
     [](Attention const& a) {
         return has_only(a, {Port::Q, Port::K, Port::V, Port::O, Port::DO, Port::Stats, Port::AttnScale, Port::DQ,
                             Port::DK, Port::DV});
     }},
    {"bands.c03", "tensors that are neither packed by lengths nor in blocks", GRAPH_NOT_SUPPORTED, has_dense_tensors},
    {"bands.c04", "a left and a right bound", GRAPH_NOT_SUPPORTED,
     [](Attention const& a) { return a.fields().left_bound && a.fields().right_bound; }},
    {"bands.c05",
     "a window of two keys or more, in which the first query sees a key behind the first one, but not the last",
     GRAPH_NOT_SUPPORTED,
     [](Attention const& a) {
         KeyBand const band = band_of(a);
         return band.last > 0 && band.last < a.keys && band.last > band.first;
     }},
    {"bands.c06", "no ALiBi, no padding mask, no dropout", GRAPH_NOT_SUPPORTED,
     [](Attention const& a) {
         auto const& fields = a.fields();
         return !fields.alibi_mask && !fields.padding_mask && !fields.dropout_probability;
     }},
    {"bands.c07", "memory for all three gradients", GRAPH_NOT_SUPPORTED, has_gradients},
};

// A range of rows of a tensor.
struct BandRows {
    std::int64_t first, count;
};

class BandWriter {
   public:
    explicit BandWriter(Attention const& attention)
        : a_(attention),
          band_(band_of(attention)),
          main_(std::min(a_.queries, a_.keys - band_.last)),
          program_(kName) {}

    Result<Program> write() {
        SDPA_GRAPH_TRY(attend_to_main());
        SDPA_GRAPH_TRY(attend_to_first_keys());
        if (main_ < a_.queries) SDPA_GRAPH_TRY(attend_with_last_queries());
        return program_.take();
    }

   private:
    struct BandMask {
        DiagonalAlignment_t alignment;
        std::int64_t left, right;
    };
    struct GradientViews {
        View q, k, v;
    };

    View rows_of(int port, BandRows rows) const { return part_of(a_.view(port), kRows, rows.first, rows.count); }
    std::int64_t width() const { return band_.last - band_.first + 1; }

    // The causal window. Keys behind its last query's get gradients of 0.
    error_t attend_to_main() {
        BandRows const queries{0, main_}, keys{band_.last, a_.keys - band_.last};
        return attend(queries, keys, {DiagonalAlignment_t::TOP_LEFT, width(), 0},
                      {rows_of(Port::DQ, queries), rows_of(Port::DK, keys), rows_of(Port::DV, keys)}, Lane::Main);
    }

    // Keys before the shift, which the first queries see up to the left edge of the band.
    error_t attend_to_first_keys() {
        BandRows const queries{0, std::min(main_, width() - 1)}, keys{0, band_.last};
        View const d_q = rows_of(Port::DQ, queries), partial = program_.scratch_like(d_q);
        SDPA_GRAPH_TRY(attend(queries, keys, mask_of_first_keys(queries.count),
                              {partial, rows_of(Port::DK, keys), rows_of(Port::DV, keys)}, Lane::Side));
        program_.add(partial, d_q);
        return {};
    }

    // The edge starts in the first key, or behind it: then it ends in the last one.
    BandMask mask_of_first_keys(std::int64_t queries) const {
        if (band_.first <= 0) return {DiagonalAlignment_t::TOP_LEFT, 1 - band_.first, band_.last};
        return {DiagonalAlignment_t::BOTTOM_RIGHT, band_.last - queries - band_.first + 1, queries};
    }

    // Queries whose band ends behind the last key.
    error_t attend_with_last_queries() {
        BandRows const queries{main_, a_.queries - main_};
        std::int64_t const first_key = std::max<std::int64_t>(0, main_ + band_.first);
        BandRows const keys{first_key, a_.keys - first_key};
        View const d_k = rows_of(Port::DK, keys), d_v = rows_of(Port::DV, keys);
        View const partial_k = program_.scratch_like(d_k), partial_v = program_.scratch_like(d_v);
        std::int64_t const left = 1 - (main_ + band_.first - first_key);
        SDPA_GRAPH_TRY(attend(queries, keys, {DiagonalAlignment_t::TOP_LEFT, left, keys.count},
                              {rows_of(Port::DQ, queries), partial_k, partial_v}, Lane::Side));
        program_.add(partial_k, d_k);
        program_.add(partial_v, d_v);
        return {};
    }

    error_t attend(BandRows queries, BandRows keys, BandMask const& mask, GradientViews const& gradients, Lane lane) {
        AttentionDraft draft(a_);
        draft.fields().diagonal_alignment = mask.alignment;
        draft.fields().left_bound = mask.left;
        draft.fields().right_bound = mask.right;
        for (int const port : {Port::Q, Port::O, Port::DO, Port::Stats}) draft.connect(port, rows_of(port, queries));
        for (int const port : {Port::K, Port::V}) draft.connect(port, rows_of(port, keys));
        draft.connect(Port::DQ, gradients.q);
        draft.connect(Port::DK, gradients.k);
        draft.connect(Port::DV, gradients.v);
        return program_.attend(std::move(draft), lane);
    }

    Attention const& a_;
    KeyBand band_;
    std::int64_t main_;  // how many queries have the whole diagonal
    ProgramBuilder program_;
};

}  // namespace

std::span<Condition const> bands_conditions() { return kConditions; }

Result<Program> bands(Attention const& attention) {
    SDPA_GRAPH_TRY(check(kName, kConditions, attention));
    return BandWriter(attention).write();
}

}  // namespace cudnn_frontend::rewrite
