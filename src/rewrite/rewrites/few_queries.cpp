#include "rewrite/rewrites/rewrites.h"

#include "rewrite/program_builder.h"
#include "rewrite/view_moves.h"

namespace cudnn_frontend::rewrite {
namespace {

using attention::Port;
using enum error_code_t;

constexpr char const* kName = "few_queries";

bool has_mask(Attention const& a) { return a.fields().left_bound || a.fields().right_bound; }

// Whether the mask is causal, with its diagonal through the last query and the last key.
bool is_causal_at_end(Attention const& a) {
    nodes::AttentionFields const& fields = a.fields();
    return !fields.left_bound && fields.right_bound == 0 &&
           fields.diagonal_alignment == DiagonalAlignment_t::BOTTOM_RIGHT && a.queries <= a.keys;
}

bool has_like_pages(Attention const& a) {
    bool const has_k = a.has(Port::PageTableK), has_v = a.has(Port::PageTableV);
    return has_k == has_v && (!has_k || a.tensor(Port::K)->dim[2] == a.tensor(Port::V)->dim[2]);
}

// Whether the tensor, where there is memory for it, has the type.
bool has_type(Attention const& a, int port, DataType_t type) {
    return !a.has(port) || a.tensor(port)->data_type == type;
}

constexpr Condition kConditions[] = {
    {"few_queries.c01", "forward attention", GRAPH_NOT_SUPPORTED, [](Attention const& a) { return !a.is_backward(); }},
    {"few_queries.c02", "no operands but Q, K, V, O, Stats, attn_scale, lengths and page tables", GRAPH_NOT_SUPPORTED,
     [](Attention const& a) {
         return has_only(a, {Port::Q, Port::K, Port::V, Port::O, Port::Stats, Port::AttnScale, Port::SeqLenQ,
                             Port::SeqLenKv, Port::PageTableK, Port::PageTableV});
     }},
    {"few_queries.c03", "tensors that are neither packed by lengths nor in blocks", GRAPH_NOT_SUPPORTED,
     has_dense_tensors},
    {"few_queries.c04", "no mask but a causal one whose diagonal ends at the bottom right", GRAPH_NOT_SUPPORTED,
     [](Attention const& a) { return !has_mask(a) || is_causal_at_end(a); }},
    {"few_queries.c05", "no ALiBi and no dropout", GRAPH_NOT_SUPPORTED,
     [](Attention const& a) { return !a.fields().alibi_mask && !a.fields().dropout_probability; }},
    {"few_queries.c06", "Stats, where there is one, in base e and of FLOAT", GRAPH_NOT_SUPPORTED,
     [](Attention const& a) { return !a.fields().stats_use_log2 && has_type(a, Port::Stats, DataType_t::FLOAT); }},
    {"few_queries.c07", "as many heads of K as of V, each for a whole number of heads of Q", GRAPH_NOT_SUPPORTED,
     [](Attention const& a) { return a.key_heads == a.value_heads && a.query_heads % a.key_heads == 0; }},
    {"few_queries.c08", "Q of 16 or 32 bits", GRAPH_NOT_SUPPORTED,
     [](Attention const& a) {
         DataType_t const type = a.tensor(Port::Q)->data_type;
         return type == DataType_t::HALF || type == DataType_t::BFLOAT16 || type == DataType_t::FLOAT;
     }},
    {"few_queries.c09", "no mask with lengths, except for a single query", GRAPH_NOT_SUPPORTED,
     [](Attention const& a) { return !a.fields().padding_mask || !has_mask(a) || a.queries == 1; }},
    {"few_queries.c10", "K and V in pages of as many rows, or both without pages", GRAPH_NOT_SUPPORTED, has_like_pages},
    {"few_queries.c11", "with lengths fewer than 2^31 queries for a head of keys, as lengths have 32 bits",
     GRAPH_NOT_SUPPORTED,
     [](Attention const& a) { return !a.fields().padding_mask || a.queries * a.group() < std::int64_t{1} << 31; }},
    {"few_queries.c12", "memory for O", GRAPH_NOT_SUPPORTED, [](Attention const& a) { return a.has(Port::O); }},
    {"few_queries.c13", "lengths, where there are any, of INT32", GRAPH_NOT_SUPPORTED,
     [](Attention const& a) {
         return has_type(a, Port::SeqLenQ, DataType_t::INT32) && has_type(a, Port::SeqLenKv, DataType_t::INT32);
     }},
};

// Tensors of queries are seen as a grid {batch, key head, split, group, query, column} first, those of keys as one
// without group and query but with rows. An attention has four dims: the splits join the batch or the heads, the group
// the rows.
constexpr std::size_t kBatch = 0, kHeads = 1, kSplits = 2, kRows = 3;

struct Arrangement {
    bool splits_join_heads = false;
    bool group_is_innermost = false;
};

std::optional<View> fold(View const& grid, Arrangement arrangement) {
    core::Dims order =
        arrangement.splits_join_heads ? core::Dims{kBatch, kHeads, kSplits} : core::Dims{kBatch, kSplits, kHeads};
    bool const has_group = grid.dim.size() == 6;
    if (!has_group) order.insert(order.end(), {3, 4});
    else if (arrangement.group_is_innermost) order.insert(order.end(), {4, 3, 5});
    else order.insert(order.end(), {3, 4, 5});
    std::optional<View> view = permute(grid, order);
    if (has_group) view = join(*view, kRows);
    return view ? join(*view, arrangement.splits_join_heads ? kHeads : kBatch) : view;
}

class SplitWriter {
   public:
    SplitWriter(Attention const& attention, std::int64_t splits)
        : a_(attention), splits_(splits), program_(std::string(kName) + "(" + std::to_string(splits) + ")") {}

    Result<Program> write() {
        SDPA_GRAPH_TRY(split_keys());
        place_queries();
        if (has_lengths()) split_lengths();
        if (parts() > 1 || !write_whole()) make_partial_results();
        SDPA_GRAPH_TRY(attend_to_splits());
        if (rest_ > 0) SDPA_GRAPH_TRY(attend_to_rest());
        if (partial_o_) merge();
        return program_.take();
    }

   private:
    bool has_lengths() const { return a_.fields().padding_mask; }
    bool is_paged() const { return a_.has(Port::PageTableK); }
    std::int64_t parts() const { return splits_ + (rest_ > 0 ? 1 : 0); }
    View grid_of_queries(int port, std::int64_t splits) const {
        return repeat(split(a_.view(port), kHeads, a_.group()), kSplits, splits);
    }
    View grid_of_keys(int port) const { return split(part_of(a_.view(port), 2, 0, splits_ * chunk_), 2, chunk_); }

    // How many keys a split has, so that those under a causal mask's diagonal are left over.
    void measure_chunks() {
        constexpr std::int64_t kAligned = 16;
        std::int64_t const most = is_causal_at_end(a_) && a_.queries > 1 ? a_.keys - a_.queries : a_.keys;
        chunk_ = most / splits_;
        if (chunk_ > kAligned && splits_ * chunk_ != a_.keys) chunk_ = chunk_ / kAligned * kAligned;
        rest_ = a_.keys - splits_ * chunk_;
    }

    error_t split_keys() {
        if (is_paged()) return split_pages();
        measure_chunks();
        if (chunk_ < 1) return no_splits("splits");
        if (has_lengths() && rest_ > 0) return no_splits("equal splits, which lengths need");
        bool const is_better_in_heads = a_.key_heads == 1 && a_.batches > 1;  // Q need not be copied
        for (bool const in_heads : {is_better_in_heads, !is_better_in_heads}) {
            if (in_heads && has_lengths()) continue;  // they are those of batch entries
            arrangement_.splits_join_heads = in_heads;
            k_ = fold(grid_of_keys(Port::K), arrangement_);
            v_ = fold(grid_of_keys(Port::V), arrangement_);
            if (k_ && v_ && (rest_ == 0 || has_uniform_parts(in_heads))) return {};
        }
        return {error_code_t::GRAPH_NOT_SUPPORTED,
                std::string(kName) + ": no strides split the keys of K and V in " + std::to_string(splits_) +
                    ", which are to be in the batch or in the heads; fewer splits, or rows without gaps, may do"};
    }

    error_t no_splits(char const* needed) const {
        return {error_code_t::GRAPH_NOT_SUPPORTED, std::string(kName) + ": " + std::to_string(a_.keys) +
                                                       " keys do not make " + std::to_string(splits_) + " " + needed};
    }

    // The containers stay as they are; each split has its own part of the tables.
    error_t split_pages() {
        std::int64_t const pages = a_.view(Port::PageTableK).dim[2] / splits_;
        if (pages * splits_ != a_.view(Port::PageTableK).dim[2]) return no_splits("splits of whole pages");
        chunk_ = pages * a_.view(Port::K).dim[2];
        k_ = a_.view(Port::K);
        v_ = a_.view(Port::V);
        k_table_ = split_table(Port::PageTableK, pages);
        v_table_ = split_table(Port::PageTableV, pages);
        if (k_table_ && v_table_) return {};
        return {error_code_t::GRAPH_NOT_SUPPORTED,
                std::string(kName) + ": no strides split the page tables; tables without gaps do"};
    }
    std::optional<View> split_table(int port, std::int64_t pages) const {
        return join(permute(split(a_.view(port), 2, pages), {0, 2, 1, 3, 4}), 0);
    }

    // Whether the rest can follow the splits in the memory of partial results.
    bool has_uniform_parts(bool in_heads) const { return splits_ == 1 || (in_heads ? a_.key_heads : a_.batches) == 1; }

    // The rest is attended to without joining the group to the rows: its partial results lie in that order. Lengths
    // count queries, and are to count rows.
    void place_queries() {
        View const grid = grid_of_queries(Port::Q, splits_);
        for (bool const group_is_innermost : {false, true}) {
            if (group_is_innermost ? rest_ > 0 : has_lengths()) continue;
            arrangement_.group_is_innermost = group_is_innermost;
            q_ = fold(grid, arrangement_);
            if (q_) return;
        }
        arrangement_.group_is_innermost = has_lengths();
        View const copy = grid_scratch(grid.type, splits_, a_.head_dim);
        program_.copy(grid, copy);
        q_ = fold(copy, arrangement_);
    }

    // A query is a row for each head of its group, in each split.
    void split_lengths() {
        row_lengths_ = a_.view(Port::SeqLenQ);
        key_lengths_ = a_.view(Port::SeqLenKv);
        if (a_.group() == 1 && splits_ == 1) return;
        auto const scratch = [&] { return program_.scratch(DataType_t::INT32, {a_.batches, splits_}); };
        View const rows = scratch(), keys = scratch();
        auto const repeated = [&](View view) {
            view.dim = {a_.batches, splits_};
            view.stride = {view.stride[0], 0};
            return view;
        };
        program_.split_lengths({repeated(*row_lengths_), repeated(*key_lengths_), rows, keys, a_.group(), chunk_});
        row_lengths_ = in_batch(rows);
        key_lengths_ = in_batch(keys);
    }
    View in_batch(View lengths) const {
        lengths.dim = {a_.batches * splits_, 1, 1, 1};
        lengths.stride = {1, 1, 1, 1};
        return lengths;
    }

    // Whether O and Stats can be written where the user has them.
    bool write_whole() {
        o_ = fold(grid_of_queries(Port::O, 1), arrangement_);
        if (a_.has(Port::Stats)) stats_ = fold(grid_of_queries(Port::Stats, 1), arrangement_);
        return o_ && (stats_ || !a_.has(Port::Stats));
    }

    // A grid in scratch, in an order that fold() takes.
    View grid_scratch(DataType_t type, std::int64_t parts, std::int64_t columns) {
        std::int64_t const b = a_.batches, h = a_.key_heads, g = a_.group(), s = a_.queries;
        if (arrangement_.splits_join_heads) {
            View const memory = program_.scratch(type, {b, h, parts, g, s, columns});
            return inner_order(memory);
        }
        if (b == 1 || splits_ == 1) {
            return permute(inner_order(program_.scratch(type, {parts, b, h, g, s, columns})), {1, 2, 0, 3, 4, 5});
        }
        return permute(inner_order(program_.scratch(type, {b, parts, h, g, s, columns})), {0, 2, 1, 3, 4, 5});
    }

    // The last three dims' memory in the order of the rows.
    View inner_order(View view) const {
        if (!arrangement_.group_is_innermost) return view;
        view.stride[4] = a_.group() * view.stride[5] * view.dim[5];
        view.stride[3] = view.stride[5] * view.dim[5];
        return view;
    }

    void make_partial_results() {
        partial_o_ = grid_scratch(a_.tensor(Port::O)->data_type, parts(), a_.value_dim);
        partial_stats_ = grid_scratch(DataType_t::FLOAT, parts(), 1);
        o_ = fold(part_of(*partial_o_, kSplits, 0, splits_), arrangement_);
        stats_ = fold(part_of(*partial_stats_, kSplits, 0, splits_), arrangement_);
    }

    error_t attend_to_splits() {
        AttentionDraft draft(a_);
        clear_mask(draft);
        return attend(std::move(draft), *q_, *k_, *v_, *o_, stats_, Lane::Main);
    }

    error_t attend_to_rest() {
        AttentionDraft draft(a_);
        if (a_.queries == 1) clear_mask(draft);
        std::int64_t const first = splits_ * chunk_;
        return attend(std::move(draft), a_.view(Port::Q), part_of(a_.view(Port::K), 2, first, rest_),
                      part_of(a_.view(Port::V), 2, first, rest_), last_part(*partial_o_), last_part(*partial_stats_),
                      Lane::Side);
    }

    // {batch, heads, queries, columns} of the last part.
    View last_part(View const& grid) const {
        View part = part_of(grid, kSplits, splits_, 1);
        return *join(*join(part, kHeads), kHeads);
    }

    static void clear_mask(AttentionDraft& draft) {
        draft.fields().right_bound.reset();
        draft.fields().diagonal_alignment = DiagonalAlignment_t::TOP_LEFT;
    }

    error_t attend(AttentionDraft draft, View const& q, View const& k, View const& v, View const& o,
                   std::optional<View> const& stats, Lane lane) {
        draft.fields_of<nodes::SdpaForwardFields>().generate_stats = stats.has_value();
        draft.connect(Port::Q, q);
        draft.connect(Port::K, k);
        draft.connect(Port::V, v);
        draft.connect(Port::O, o);
        if (stats) draft.connect(Port::Stats, *stats);
        if (has_lengths()) {
            draft.connect(Port::SeqLenQ, *row_lengths_);
            draft.connect(Port::SeqLenKv, *key_lengths_);
        }
        if (is_paged()) {
            draft.connect(Port::PageTableK, *k_table_);
            draft.connect(Port::PageTableV, *v_table_);
            if (splits_ > 1) draft.fields_of<nodes::SdpaForwardFields>().max_seq_len_kv = chunk_;
        }
        return program_.attend(std::move(draft), lane);
    }

    // The parts first, as a merge wants them.
    void merge() {
        auto const parts_first = [](View const& grid) { return permute(grid, {2, 0, 1, 3, 4, 5}); };
        auto const without_parts = [&](int port) { return split(a_.view(port), kHeads, a_.group()); };
        Merge merge{parts_first(*partial_o_), parts_first(*partial_stats_), without_parts(Port::O), {}};
        if (a_.has(Port::Stats)) merge.stats = without_parts(Port::Stats);
        if (has_lengths()) merge.partial_lengths = lengths_of_parts();
        program_.merge(std::move(merge));
    }

    // The lengths of the parts for each row, in the merge's dims.
    View lengths_of_parts() const {
        View lengths = *key_lengths_;
        std::int64_t const stride = lengths.stride.front();
        lengths.dim = {splits_, a_.batches, a_.key_heads, a_.group(), a_.queries, 1};
        lengths.stride = {stride, splits_ * stride, 0, 0, 0, 0};
        return lengths;
    }

    Attention const& a_;
    std::int64_t splits_, chunk_ = 0, rest_ = 0;
    ProgramBuilder program_;
    Arrangement arrangement_;
    std::optional<View> q_, k_, v_, o_, stats_;
    std::optional<View> row_lengths_, key_lengths_, k_table_, v_table_;
    std::optional<View> partial_o_, partial_stats_;
};

}  // namespace

std::span<Condition const> few_queries_conditions() { return kConditions; }

Result<Program> few_queries(Attention const& attention, std::int64_t splits) {
    SDPA_GRAPH_TRY(check(kName, kConditions, attention));
    return SplitWriter(attention, splits).write();
}

}  // namespace cudnn_frontend::rewrite
