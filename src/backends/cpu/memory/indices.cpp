#include "cpu/memory/indices.h"

#include "core/text.h"
#include "plan/packs/run_rules.h"

#include <algorithm>
#include <deque>
#include <limits>

namespace cudnn_frontend::cpu {
namespace {

struct IndexValues {
    std::vector<ir::ValueId> counts;  // lengths and offsets
    std::vector<ir::ValueId> tables;

    void operator()(ir::MatmulOp const& op) { add_counts({op.m_override, op.n_override, op.k_override}); }
    void operator()(ir::ReductionOp const& op) { add_counts({op.rows}); }
    void operator()(ir::PagedLoadOp const& op) {
        add_counts({op.length});
        tables.push_back(op.table);
    }
    void operator()(ir::SdpaForwardOp const& op) { add_attention(op.operands); }
    void operator()(ir::SdpaBackwardOp const& op) { add_attention(op.operands); }
    template <class Other>
    void operator()(Other const&) {}

    void add_attention(ir::attention::OfOperation<ir::ValueId> const& operands) {
        for (ir::attention::Operand const& row : ir::attention::kOperands) {
            if (!ir::attention::is_of_operation(row)) continue;
            if (ir::attention::is_length(row)) counts.push_back(operands[row.port]);
            if (ir::attention::is_page_table(row)) tables.push_back(operands[row.port]);
        }
    }
    void add_counts(std::initializer_list<ir::ValueId> ids) { counts.insert(counts.end(), ids); }
};

IndexValues index_values(ir::OpGraph const& graph) {
    IndexValues values;
    for (ir::Op const& op : graph.ops()) std::visit(values, op.body);
    for (ir::Binding const& binding : graph.bindings()) {
        ir::Value const& value = graph.value(binding.value);
        if (value.ragged) values.add_counts({value.ragged.offset, value.ragged.length});
    }
    for (ir::Value const& value : graph.values()) values.add_counts({value.steps_of});
    return values;
}

std::vector<ValueSlot> slots_of(ir::OpGraph const& graph) {
    std::vector<ValueSlot> slots(graph.values().size());
    for (std::size_t i = 0; i < graph.bindings().size(); ++i) {
        slots[static_cast<std::size_t>(graph.bindings()[i].value)] = {ValueSlot::Where::Pointer,
                                                                      static_cast<std::int64_t>(i)};
    }
    return slots;
}

constexpr std::int64_t kMostElements = std::int64_t{1} << 40;

// A pack in which some pointers are replaced by pointers to copies.
class FetchedPack {
   public:
    FetchedPack(ir::OpGraph const& graph, std::span<void* const> pointers, plan::Fetch const& fetch)
        : graph_(graph), pointers_(pointers.begin(), pointers.end()), slots_(slots_of(graph)), fetch_(fetch) {}

    Memory memory() { return {graph_, slots_, pointers_, steps_.data()}; }

    // Constants are on the host already.
    error_t fetch(std::vector<ir::ValueId> ids) {
        std::ranges::sort(ids);
        ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
        for (ir::ValueId const id : ids) {
            if (id == ir::kNoValue || slots_[static_cast<std::size_t>(id)].where != ValueSlot::Where::Pointer) continue;
            SDPA_GRAPH_TRY(fetch_one(id));
        }
        return {};
    }

    // Computes lengths from cumulative ones that were fetched.
    void make_steps() {
        std::int64_t bytes = 0;
        std::vector<ir::ValueId> const ids = values_of_steps(graph_);
        for (ir::ValueId const id : ids) {
            ir::Value const& value = graph_.value(id);
            slots_[static_cast<std::size_t>(id)] = {ValueSlot::Where::Workspace, bytes};
            bytes += value.dim[0] * core::size_of(value.type);
        }
        steps_.resize(static_cast<std::size_t>(bytes));
        compute_steps(graph_, ids, memory());
    }

   private:
    error_t fetch_one(ir::ValueId id) {
        ir::Value const& value = graph_.value(id);
        void*& pointer = pointers_[static_cast<std::size_t>(slots_[static_cast<std::size_t>(id)].at)];
        std::int64_t const count = elements(value);
        if (count > kMostElements) return too_long(value, count);
        copies_.emplace_back(static_cast<std::size_t>(count * core::size_of(value.type)));
        SDPA_GRAPH_TRY(fetch_(copies_.back(), pointer));
        pointer = copies_.back().data();
        return {};
    }

    error_t too_long(ir::Value const& value, std::int64_t count) const {
        return core::error_of({plan::run_rules::kOffsets.violation(
            "", graph_.value(value.ragged.offset).name,
            core::text("a ragged offset of '", value.name, "' that ends at ", count, " elements"),
            "no more elements than memory holds", "correct the last entry; nothing was written")});
    }

    // The size of a packed table is its last offset.
    std::int64_t elements(ir::Value const& value) {
        if (!value.ragged) return core::span_of(value.dim, value.stride).value_or(0);
        ir::Value const& offset = graph_.value(value.ragged.offset);
        std::int64_t const end = memory().integer(value.ragged.offset, value.dim[0] * offset.stride[0]);
        std::int64_t count = 0;
        bool const is_countable = !__builtin_mul_overflow(end, value.ragged.multiplier, &count);
        return is_countable ? count : std::numeric_limits<std::int64_t>::max();
    }

    ir::OpGraph const& graph_;
    std::vector<void*> pointers_;
    std::vector<ValueSlot> slots_;
    std::deque<std::vector<std::byte>> copies_;
    std::vector<std::byte> steps_;
    plan::Fetch const& fetch_;
};

}  // namespace

error_t check_indices(ir::OpGraph const& graph, Memory const& memory) {
    SDPA_GRAPH_TRY(check_lengths(graph, memory));
    SDPA_GRAPH_TRY(check_offsets(graph, memory));
    return check_pages(graph, memory);
}

error_t check_indices_elsewhere(ir::OpGraph const& graph, std::span<void* const> pointers, plan::Fetch const& fetch) {
    IndexValues const values = index_values(graph);
    FetchedPack pack(graph, pointers, fetch);
    SDPA_GRAPH_TRY(pack.fetch(values.counts));
    pack.make_steps();
    SDPA_GRAPH_TRY(check_lengths(graph, pack.memory()));
    SDPA_GRAPH_TRY(check_offsets(graph, pack.memory()));
    SDPA_GRAPH_TRY(pack.fetch(values.tables));
    return check_pages(graph, pack.memory());
}

}  // namespace cudnn_frontend::cpu
