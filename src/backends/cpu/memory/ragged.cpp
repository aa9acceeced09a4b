#include "cpu/memory/indices.h"

#include "cpu/memory/index_faults.h"

#include <limits>

namespace cudnn_frontend::cpu {
namespace {

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

std::string bad_offset(ir::Value const& value, std::string const& offsets, std::int64_t b, std::string const& found) {
    return "Tensor '" + offsets + "', the ragged offset of '" + value.name + "', " + found + " at batch entry " +
           std::to_string(b) + "; offsets count " +
           (value.ragged.multiplier == 1 ? "elements" : std::to_string(value.ragged.multiplier) + " elements as one") +
           ", start at 0 or later and leave room for each sequence. "
           "Nothing was written; correct the entry.";
}

// Elements that the entry's rows span.
std::int64_t reach(ir::Value const& value, std::int64_t rows) {
    std::int64_t last = (rows - 1) * value.stride[2];
    for (std::size_t d : {1, 3}) last += (value.dim[d] - 1) * value.stride[d];
    return rows == 0 ? 0 : last + 1;
}

// The distance from a row's first element to the one behind its last.
std::int64_t span_of_row(ir::Value const& value) { return reach(value, 1); }

// Whether rows of sequences that start there lie between each other without an element in common, as those of heads do
// that are side by side.
bool are_side_by_side(ir::Value const& value, std::int64_t start, std::int64_t next) {
    std::int64_t const row = value.stride[2], distance = row > 0 ? (next - start) % row : 0;
    return distance >= span_of_row(value) && row - distance >= span_of_row(value);
}

// Whether the sequence has memory of its own. What is only read may be shared as a whole.
bool has_room(ir::Value const& value, std::int64_t needed, std::int64_t start, std::int64_t next) {
    bool const is_shared = value.role == ir::Role::Input && next == start;
    return needed <= next - start || is_shared || are_side_by_side(value, start, next);
}

// The first sequence that ends beyond the bound on rows; empty where none does.
std::string fault_of_rows(ir::OpGraph const& graph, ir::Value const& value, Memory const& memory) {
    std::int64_t const most = value.ragged.most_rows, row = value.stride[2];
    for (std::int64_t b = 0; most > 0 && b < value.dim[0]; ++b) {
        std::int64_t const elements = reach(value, rows_of(value, memory, graph, b));
        std::int64_t const end = (start_of(value, memory, graph, b) + elements + row - 1) / row;
        if (elements == 0 || end <= most) continue;
        return "Tensor '" + value.name + "' has a sequence at batch entry " + std::to_string(b) + " that ends after " +
               std::to_string(end) + " rows; the graph bounds them by " + std::to_string(most) +
               ". Nothing was written; pass where the last sequence ends to set_max_total_seq_len_q(), of keys and "
               "values to set_max_total_seq_len_kv().";
    }
    return {};
}

// The first fault of the tensor's offset; empty where there is none.
std::string fault_of(ir::OpGraph const& graph, ir::Value const& value, Memory const& memory) {
    std::string const& offsets = graph.value(value.ragged.offset).name;
    std::int64_t const most = std::numeric_limits<std::int64_t>::max() / value.ragged.multiplier;
    for (std::int64_t b = 0; b <= value.dim[0]; ++b) {
        std::int64_t const offset = offset_of(value, memory, graph, b);
        bool const is_countable = offset >= 0 && offset <= most;
        if (!is_countable) return bad_offset(value, offsets, b, "holds " + std::to_string(offset));
    }
    for (std::int64_t b = 0; b < value.dim[0]; ++b) {
        std::int64_t const start = start_of(value, memory, graph, b), next = start_of(value, memory, graph, b + 1);
        if (next < start) {
            return bad_offset(value, offsets, b,
                              "decreases from " + std::to_string(offset_of(value, memory, graph, b)) + " to " +
                                  std::to_string(offset_of(value, memory, graph, b + 1)));
        }
        std::int64_t const needed = reach(value, rows_of(value, memory, graph, b));
        if (!has_room(value, needed, start, next)) {
            return bad_offset(value, offsets, b,
                              "leaves room for " + std::to_string(next - start) +
                                  " elements, where the sequence spans " + std::to_string(needed));
        }
    }
    return {};
}

}  // namespace

error_t check_offsets(ir::OpGraph const& graph, Memory const& memory) {
    IndexFaults faults;
    for_each_ragged(graph, [&](ir::Value const& value) {
        ir::ValueId const offset = value.ragged.offset;
        if (faults.has(offset)) return;
        std::string const& name = graph.value(offset).name;
        if (std::string const fault = fault_of(graph, value, memory); !fault.empty()) {
            faults.add("run.r02", offset, name, fault);
        } else if (std::string const behind = fault_of_rows(graph, value, memory); !behind.empty()) {
            faults.add("run.r03", offset, name, behind);
        }
    });
    return std::move(faults).error();
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
