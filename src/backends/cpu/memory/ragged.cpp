#include "cpu/memory/indices.h"

#include "core/dims.h"
#include "core/text.h"
#include "plan/packs/run_rules.h"

#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace cudnn_frontend::cpu {
namespace {

using core::text;

// Calls visit(value) for each ragged tensor of the caller's.
template <class Visit>
void for_each_ragged(ir::OpGraph const& graph, Visit const& visit) {
    for (ir::Binding const& binding : graph.bindings()) {
        ir::Value const& value = graph.value(binding.value);
        if (value.ragged) visit(value);
    }
}

std::int64_t rows_of(ir::Value const& value, Memory const& memory, ir::OpGraph const& graph, std::int64_t b) {
    std::int64_t const length = memory.integer(value.ragged.length, b * graph.value(value.ragged.length).stride[0]);
    return (length + value.ragged.rows_together - 1) / value.ragged.rows_together;
}

std::int64_t offset_of(ir::Value const& value, Memory const& memory, ir::OpGraph const& graph, std::int64_t b) {
    return memory.integer(value.ragged.offset, b * graph.value(value.ragged.offset).stride[0]);
}

// The offset in elements. Does not overflow if fault_of() found no fault.
std::int64_t start_of(ir::Value const& value, Memory const& memory, ir::OpGraph const& graph, std::int64_t b) {
    return offset_of(value, memory, graph, b) * value.ragged.multiplier;
}

// Nothing where the tensor is right.
using Fault = std::optional<Finding>;

Finding bad_offset(ir::Value const& value, std::string const& offsets, std::int64_t b, std::string const& found) {
    return plan::run_rules::kOffsets.violation(
        "", offsets, text("a ragged offset of '", value.name, "' that ", found, " at batch entry ", b),
        text("offsets that count ",
             value.ragged.multiplier == 1 ? "elements" : text(value.ragged.multiplier, " elements as one"),
             ", start at 0 or later and leave room for each sequence"),
        "correct the entry; nothing was written");
}

// Elements that the entry's rows span.
std::int64_t reach(ir::Value const& value, std::int64_t rows) {
    std::int64_t last = (rows - 1) * value.stride[2];
    for (std::size_t d : {1, 3}) last += (value.dim[d] - 1) * value.stride[d];
    return rows == 0 ? 0 : last + 1;
}

// The sequences of a tensor so far, each of which needs memory of its own. Rows may lie between those of others, as
// those of heads do that are side by side: such sequences all start within one row.
class Sequences_so_far {
   public:
    explicit Sequences_so_far(ir::Value const& value) : value_(value), row_(value.stride[2]), span_(reach(value, 1)) {}

    void add(std::int64_t b, std::int64_t start, std::int64_t elements) {
        if (elements == 0) return;
        if (start >= end_) first_ = start;
        last_ = start;
        std::int64_t const end = core::saturating_add(start, elements);
        if (end <= end_) return;
        end_ = end;
        furthest_ = {b, start, elements};
    }

    // The sequence that reaches into one that starts there; empty if none does.
    struct Reaching {
        std::int64_t b, start, elements;
    };
    std::optional<Reaching> reaching(std::int64_t next) const {
        bool const is_beside = next - last_ >= span_ && next - first_ + span_ <= row_;
        if (end_ <= next || is_shared(last_, next) || is_beside) return std::nullopt;
        return furthest_;
    }

    // Whether a sequence fits before the end of the offsets, or before the start of a sequence without rows.
    bool fits(std::int64_t start, std::int64_t elements, std::int64_t next) const {
        std::int64_t const distance = row_ > 0 ? (next - start) % row_ : 0;
        bool const is_beside = distance >= span_ && row_ - distance >= span_;
        return elements <= next - start || is_shared(start, next) || is_beside;
    }

   private:
    // Sequences that are only read may be shared as a whole.
    bool is_shared(std::int64_t start, std::int64_t next) const {
        return value_.role == ir::Role::Input && next == start;
    }

    ir::Value const& value_;
    std::int64_t row_, span_;  // from a row to the next one, and from a row's first element to behind its last
    std::int64_t first_ = 0, last_ = 0, end_ = 0;
    Reaching furthest_{};
};

// The first sequence that ends beyond the bound on rows; nothing where none does.
Fault fault_of_rows(ir::OpGraph const& graph, ir::Value const& value, Memory const& memory) {
    std::int64_t const most = value.ragged.most_rows, row = value.stride[2];
    for (std::int64_t b = 0; most > 0 && b < value.dim[0]; ++b) {
        std::int64_t const elements = reach(value, rows_of(value, memory, graph, b));
        std::int64_t const end = (start_of(value, memory, graph, b) + elements + row - 1) / row;
        if (elements == 0 || end <= most) continue;
        return plan::run_rules::kTotals.violation(
            "", graph.value(value.ragged.offset).name,
            text("a sequence of '", value.name, "' at batch entry ", b, " that ends after ", end, " rows"),
            text("at most ", most, " rows, as the graph bounds them"),
            "pass where the last sequence ends to set_max_total_seq_len_q(), of keys and values to "
            "set_max_total_seq_len_kv(); nothing was written");
    }
    return {};
}

Finding too_little_room(ir::Value const& value, std::string const& offsets, std::int64_t b, std::int64_t room,
                        std::int64_t needed) {
    return bad_offset(value, offsets, b,
                      text("leaves room for ", room, " elements, where the sequence spans ", needed));
}

// The first entry that cannot be counted or decreases; nothing where there is none.
Fault fault_of_entries(ir::OpGraph const& graph, ir::Value const& value, Memory const& memory) {
    std::string const& offsets = graph.value(value.ragged.offset).name;
    std::int64_t const most = std::numeric_limits<std::int64_t>::max() / value.ragged.multiplier;
    auto const entry = [&](std::int64_t b) { return offset_of(value, memory, graph, b); };
    for (std::int64_t b = 0; b <= value.dim[0]; ++b) {
        bool const is_countable = entry(b) >= 0 && entry(b) <= most;
        if (!is_countable) return bad_offset(value, offsets, b, text("holds ", entry(b)));
    }
    for (std::int64_t b = 0; b < value.dim[0]; ++b) {
        if (entry(b + 1) >= entry(b)) continue;
        return bad_offset(value, offsets, b, text("decreases from ", entry(b), " to ", entry(b + 1)));
    }
    return {};
}

// The first sequence without memory of its own, of sound entries; nothing where there is none.
Fault fault_of_room(ir::OpGraph const& graph, ir::Value const& value, Memory const& memory) {
    std::string const& offsets = graph.value(value.ragged.offset).name;
    auto const elements = [&](std::int64_t b) {
        return b == value.dim[0] ? 0 : reach(value, rows_of(value, memory, graph, b));
    };
    Sequences_so_far so_far(value);
    for (std::int64_t b = 0; b < value.dim[0]; ++b) {
        std::int64_t const start = start_of(value, memory, graph, b), next = start_of(value, memory, graph, b + 1);
        so_far.add(b, start, elements(b));
        if (elements(b + 1) == 0) {
            if (!so_far.fits(start, elements(b), next))
                return too_little_room(value, offsets, b, next - start, elements(b));
        } else if (auto const found = so_far.reaching(next)) {
            return too_little_room(value, offsets, found->b, next - found->start, found->elements);
        }
    }
    return {};
}

// The first fault of the tensor's offset.
Fault fault_of(ir::OpGraph const& graph, ir::Value const& value, Memory const& memory) {
    Fault fault = fault_of_entries(graph, value, memory);
    if (!fault) fault = fault_of_room(graph, value, memory);
    return fault ? fault : fault_of_rows(graph, value, memory);
}

}  // namespace

error_t check_offsets(ir::OpGraph const& graph, Memory const& memory) {
    core::Findings findings;  // the first of each offset
    for_each_ragged(graph, [&](ir::Value const& value) {
        ir::Value const& offset = graph.value(value.ragged.offset);
        if (findings.has(&offset)) return;
        if (Fault fault = fault_of(graph, value, memory)) findings.add(std::move(*fault), &offset);
    });
    return findings.to_error();
}

std::vector<PackedSequences> sequences_of(ir::OpGraph const& graph, Memory const& memory) {
    std::vector<PackedSequences> all(graph.bindings().size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        ir::Value const& value = graph.value(graph.bindings()[i].value);
        if (!value.ragged) continue;
        for (std::int64_t b = 0; b < value.dim[0]; ++b) {
            all[i].push_back({start_of(value, memory, graph, b), rows_of(value, memory, graph, b)});
        }
    }
    return all;
}

}  // namespace cudnn_frontend::cpu
