#include "rewrite/rewrites/rewrites.h"

#include "attention/shape_classes.h"
#include "core/data_type.h"
#include "rewrite/program_builder.h"
#include "rewrite/view_moves.h"

#include <algorithm>
#include <array>

namespace cudnn_frontend::rewrite {
namespace {

using attention::Port;
using enum error_code_t;

constexpr std::array kRowPorts = {Port::Q,  Port::K,  Port::V,  Port::O,    Port::DO,
                                  Port::DQ, Port::DK, Port::DV, Port::Stats};

bool is_of_keys(int port) { return port == Port::K || port == Port::V || port == Port::DK || port == Port::DV; }

bool is_packed(Attention const& a, int port) { return a.tensor(port)->ragged_offset != nodes::kNoTensor; }

bool all_rows(Attention const& a, bool (*holds)(Attention const&, int)) {
    return std::ranges::all_of(kRowPorts, [&](int port) { return !a.has(port) || holds(a, port); });
}

// Strides of dims of 1 mean nothing: they become those of rows that hold all heads.
View rows_of(Attention const& a, int port) {
    View rows = a.view(port);
    std::int64_t const heads = rows.stride[1] * (rows.dim[1] - 1) + rows.dim[3];
    if (rows.dim[2] == 1) rows.stride[2] = (heads + 7) / 8 * 8;
    if (rows.dim[0] == 1) rows.stride[0] = core::span_of(rows.dim, rows.stride).value_or(0);
    return rows;
}

// Whether the distance between heads does not depend on how many rows there are.
bool has_heads_in_rows(Attention const& a, int port) {
    View const rows = rows_of(a, port);
    return rows.dim[1] == 1 || rows.stride[1] * (rows.dim[1] - 1) + rows.dim[3] <= rows.stride[2];
}

// Whether the slots of heads start one after the other, as the offsets of packed sequences do.
bool has_ascending_heads(Attention const& a, int port) {
    View const rows = rows_of(a, port);
    return !is_packed(a, port) && rows.stride[1] * (rows.dim[1] - 1) <= rows.stride[0];
}

// A slot of a head knows neither which head it is nor, in backward, the other heads that share its keys.
bool can_have_slots_of_heads(Attention const& a) {
    bool const has_groups = a.query_heads != a.key_heads || a.query_heads != a.value_heads;
    return !a.fields().alibi_mask && !a.has(Port::SinkToken) && a.key_heads == a.value_heads &&
           !(a.is_backward() && has_groups) && all_rows(a, has_ascending_heads);
}

// How the attention becomes one over packed sequences.
struct ClassForm {
    bool has_slots_of_heads = false;
    bool moves_stats = false;  // to scratch whose rows hold all heads, or from there
};

std::optional<ClassForm> form_of(Attention const& a) {
    bool const has_all_but_stats = std::ranges::all_of(
        kRowPorts, [&](int port) { return port == Port::Stats || !a.has(port) || has_heads_in_rows(a, port); });
    bool const has_stats = !a.has(Port::Stats) || has_heads_in_rows(a, Port::Stats);
    if (has_all_but_stats && has_stats) return ClassForm{};
    if (can_have_slots_of_heads(a)) return ClassForm{.has_slots_of_heads = true};
    if (has_all_but_stats && !is_packed(a, Port::Stats)) return ClassForm{.moves_stats = true};
    return {};
}

bool has_rows_apart(Attention const& a, int port) { return rows_of(a, port).stride[2] > 0; }

// Whether the rows of all sequences and heads have the alignment that engines need, if the first row has it.
bool has_aligned_starts(Attention const& a, int port) {
    View const rows = a.view(port);
    auto const is_aligned = [&](std::size_t dim) {
        constexpr std::int64_t kElements = attention::kMatrixAlignment / 2;  // of 16 bits
        return rows.dim[dim] == 1 || rows.stride[dim] % kElements == 0;
    };
    return port == Port::Stats || ((is_packed(a, port) || is_aligned(0)) && is_aligned(1));
}

bool has_type_of_q(Attention const& a, int port) {
    DataType_t const type = port == Port::Stats ? DataType_t::FLOAT : a.tensor(Port::Q)->data_type;
    return a.tensor(port)->data_type == type;
}

bool has_plain_numbers(Attention const& a) {
    auto const lie_side_by_side = [](nodes::TensorSpec const& tensor, std::size_t dim) {
        return tensor.dim[dim] == 1 || tensor.stride[dim] == 1;
    };
    for (int const port : {Port::SeqLenQ, Port::SeqLenKv}) {
        if (!a.has(port)) continue;
        nodes::TensorSpec const& lengths = *a.tensor(port);
        if (lengths.data_type != DataType_t::INT32 || !lie_side_by_side(lengths, 0)) return false;
    }
    bool const has_plain_offsets = std::ranges::all_of(kRowPorts, [&](int port) {
        return !a.has(port) || !is_packed(a, port) ||
               lie_side_by_side(a.graph().tensors[static_cast<std::size_t>(a.tensor(port)->ragged_offset)], 0);
    });
    if (!has_plain_offsets || !a.has(Port::SinkToken)) return has_plain_offsets;
    nodes::TensorSpec const& sink = *a.tensor(Port::SinkToken);
    // Stats of padded rows are copies of the sink's numbers.
    bool const is_copied = !a.is_backward() && a.has(Port::Stats);
    return lie_side_by_side(sink, 1) && (!is_copied || sink.data_type == DataType_t::FLOAT);
}

constexpr Condition kConditions[] = {
    {"classes.c01", "tensors of HALF or of BFLOAT16, with Stats of FLOAT in base e", GRAPH_NOT_SUPPORTED,
     [](Attention const& a) {
         return !a.fields().stats_use_log2 && core::is_half(a.tensor(Port::Q)->data_type) && all_rows(a, has_type_of_q);
     }},
    {"classes.c02",
     "no operands but Q, K, V, O, dO, Stats, attn_scale, lengths, a sink and gradients: a bias and pages depend "
     "on the sizes",
     GRAPH_NOT_SUPPORTED,
     [](Attention const& a) {
         return has_only(a, {Port::Q, Port::K, Port::V, Port::O, Port::DO, Port::Stats, Port::AttnScale, Port::SeqLenQ,
                             Port::SeqLenKv, Port::SinkToken, Port::DSinkToken, Port::DQ, Port::DK, Port::DV});
     }},
    {"classes.c03", "no dropout, whose bits depend on the sizes", GRAPH_NOT_SUPPORTED,
     [](Attention const& a) { return !a.fields().dropout_probability; }},
    {"classes.c04",
     "lengths of INT32, offsets, and numbers of a sink, if there are any, that lie side by side; next to Stats a sink "
     "of "
     "FLOAT",
     GRAPH_NOT_SUPPORTED, has_plain_numbers},
    {"classes.c05", "memory for O, or for dQ, dK and dV", GRAPH_NOT_SUPPORTED,
     [](Attention const& a) { return a.is_backward() ? has_gradients(a) : a.has(Port::O); }},
    {"classes.c06", "rows that do not share memory", GRAPH_NOT_SUPPORTED,
     [](Attention const& a) { return all_rows(a, has_rows_apart); }},
    {"classes.c07",
     "rows that hold all heads; or padded tensors with as many heads in K as in V, of as many queries in "
     "backward, and neither ALiBi nor a sink",
     GRAPH_NOT_SUPPORTED, [](Attention const& a) { return form_of(a).has_value(); }},
    {"classes.c08", "batch entries and heads that start at multiples of 16 bytes", GRAPH_NOT_SUPPORTED,
     [](Attention const& a) { return all_rows(a, has_aligned_starts); }},
};

// Both corners have one diagonal if there are as many queries as keys; from the top left engines skip more.
bool is_square(Attention const& a) { return a.queries == a.keys && !a.fields().padding_mask; }

class ClassBuilder {
   public:
    ClassBuilder(Attention const& attention, ClassForm const& form)
        : a_(attention), form_(form), program_(kNameOfClasses) {
        bool const has_groups = a_.query_heads != a_.key_heads || a_.query_heads != a_.value_heads;
        // cuDNN leaves some packed stats of one query unwritten where heads are shared (cudnn.s23).
        bool const needs_two = a_.has(Port::Stats) && has_groups && !form_.has_slots_of_heads;
        queries_ = attention::bound_of_queries(std::max<std::int64_t>(a_.queries, needs_two ? 2 : 1));
        keys_ = attention::bound_of_class(a_.keys);
        slots_ = core::saturating_multiply(attention::slots_of_class(a_.batches, queries_),
                                           form_.has_slots_of_heads ? a_.query_heads : 1);
        tables_.sequences = {{}, {}, a_.batches, a_.queries, a_.keys};
        tables_.slots_of_sequence = form_.has_slots_of_heads ? a_.query_heads : 1;
        tables_.queries = integers(DataType_t::INT32, slots_);
        tables_.keys = integers(DataType_t::INT32, slots_);
        if (a_.fields().padding_mask) {
            tables_.sequences.given_queries = a_.view(Port::SeqLenQ);
            tables_.sequences.given_keys = a_.view(Port::SeqLenKv);
        }
    }

    Result<Program> build() {
        AttentionDraft draft = options();
        for (int const port : kRowPorts) {
            if (a_.has(port)) connect(draft, port);
        }
        draft.connect(Port::SeqLenQ, tables_.queries);
        draft.connect(Port::SeqLenKv, tables_.keys);
        for (int const port : {Port::SinkToken, Port::DSinkToken}) {
            if (a_.has(port)) draft.connect(port, a_.view(port));
        }
        program_.join(std::move(tables_));
        if (form_.moves_stats && a_.is_backward()) program_.copy(a_.view(Port::Stats), *moved_stats_);
        SDPA_GRAPH_TRY(program_.attend(std::move(draft)));
        if (form_.moves_stats && !a_.is_backward()) program_.copy(*moved_stats_, a_.view(Port::Stats));
        clear_padding();
        return program_.take();
    }

   private:
    View integers(DataType_t type, std::int64_t count) { return program_.scratch(type, {count, 1, 1, 1}); }

    // A draft without the names of the user's graph, so that graphs of all names share a plan.
    AttentionDraft options() const {
        AttentionDraft draft = AttentionDraft::without_names(a_);
        nodes::AttentionFields& fields = draft.fields();
        fields.padding_mask = true;
        fields.max_total_seq_len_q.reset();
        fields.max_total_seq_len_kv.reset();
        fields.said = {};
        if (!a_.is_backward()) draft.fields_of<nodes::SdpaForwardFields>().generate_stats = a_.has(Port::Stats);
        if (is_square(a_)) fields.diagonal_alignment = DiagonalAlignment_t::TOP_LEFT;
        return draft;
    }

    // The tensor as it is, or Stats where they are moved to.
    View rows_or_moved(int port) {
        View rows = rows_of(a_, port);
        if (port != Port::Stats || !form_.moves_stats) return rows;
        View const by_row = program_.scratch(rows.type, {rows.dim[0], rows.dim[2], rows.dim[1], 1});
        moved_stats_ = permute(by_row, {0, 2, 1, 3});
        return *moved_stats_;
    }

    void connect(AttentionDraft& draft, int port) {
        View rows = rows_or_moved(port);
        View const starts = starts_of(port, rows);
        std::int64_t const bound = is_of_keys(port) ? keys_ : queries_;
        std::int64_t const whole = core::saturating_multiply(bound, rows.stride[2]);
        bool const has_heads = !form_.has_slots_of_heads && rows.dim[1] > 1;
        rows.stride = {whole, has_heads ? rows.stride[1] : whole, rows.stride[2], 1};
        rows.dim = {slots_, form_.has_slots_of_heads ? 1 : rows.dim[1], bound, rows.dim[3]};
        draft.connect_packed(port, rows, starts);
    }

    // Tensors whose slots start at the same places share a table.
    View starts_of(int port, View const& rows) {
        SlotTables::Starts starts;
        starts.by_sequence = rows.stride[0];
        starts.by_head = form_.has_slots_of_heads ? rows.stride[1] : 0;
        starts.heads_together = form_.has_slots_of_heads ? a_.query_heads / rows.dim[1] : 1;
        starts.is_of_keys = is_of_keys(port);
        if (nodes::TensorId const given = a_.tensor(port)->ragged_offset; given != nodes::kNoTensor) {
            starts.by_sequence = 0;
            starts.given = a_.whole(given);
            starts.unit = a_.tensor(port)->ragged_offset_multiplier;
        }
        for (KnownStarts const& known : known_starts_) {
            if (known.by_row == rows.stride[2] && is_same(known.starts, starts)) return known.starts.result;
        }
        starts.result = integers(DataType_t::INT64, slots_ + 1);
        known_starts_.push_back({starts, rows.stride[2]});
        tables_.starts.push_back(starts);
        return starts.result;
    }

    static bool is_same(SlotTables::Starts const& a, SlotTables::Starts const& b) {
        return a.by_sequence == b.by_sequence && a.by_head == b.by_head && a.heads_together == b.heads_together &&
               a.is_of_keys == b.is_of_keys && a.given == b.given && a.unit == b.unit;
    }

    // Packed results have no rows past the lengths.
    void clear_padding() {
        if (!a_.fields().padding_mask) return;
        ClearPadding padding{{a_.view(Port::SeqLenQ), a_.view(Port::SeqLenKv), a_.batches, a_.queries, a_.keys}, {}};
        for (int const port : kRowPorts) {
            auto const use = attention::operand(port);
            bool const is_result = attention::makes(a_.is_backward() ? use.backward : use.forward);
            if (!is_result || !a_.has(port) || is_packed(a_, port)) continue;
            padding.tensors.push_back({a_.view(port), is_of_keys(port), port == Port::Stats});
        }
        if (!a_.is_backward() && a_.has(Port::SinkToken)) padding.sink = a_.view(Port::SinkToken);
        if (!padding.tensors.empty()) program_.join(std::move(padding));
    }

    struct KnownStarts {
        SlotTables::Starts starts;
        std::int64_t by_row;
    };

    Attention const& a_;
    ClassForm form_;
    ProgramBuilder program_;
    std::int64_t slots_ = 0, queries_ = 0, keys_ = 0;
    SlotTables tables_;
    std::vector<KnownStarts> known_starts_;
    std::optional<View> moved_stats_;
};

}  // namespace

Result<Program> classes(Attention const& attention) {
    SDPA_GRAPH_TRY(check(kNameOfClasses, kConditions, attention));
    return ClassBuilder(attention, *form_of(attention)).build();
}

}  // namespace cudnn_frontend::rewrite
