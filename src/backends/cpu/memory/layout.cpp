#include "cpu/memory/workspace.h"

#include "core/data_type.h"
#include "cpu/memory/indices.h"

#include <algorithm>

namespace cudnn_frontend::cpu {
namespace {

// Bytes of a virtual value, whose elements are doubles; more than kMaxWorkspace on overflow.
std::int64_t bytes_of(ir::Value const& value) {
    constexpr std::int64_t element = sizeof(double);
    std::int64_t const span = core::span_of(value.dim, value.stride).value_or(kMaxWorkspace);
    return span > kMaxWorkspace / element ? kMaxWorkspace + 1 : align_up(span * element);
}

class WorkspacePlanner {
   public:
    explicit WorkspacePlanner(ir::OpGraph const& graph) : graph_(graph), last_use_(graph.values().size(), 0) {
        layout_.slots.resize(graph.values().size());
    }

    Result<WorkspaceLayout> run() && {
        place_bindings();
        find_last_uses();
        for (std::size_t i = 0; i < graph_.ops().size(); ++i) {
            for (ir::NamedValue const& out : ir::outputs_of(graph_.ops()[i])) place(graph_.storage_of(out.value));
            if (layout_.bytes > kMaxWorkspace) return too_large();
            release_after(i);
        }
        SDPA_GRAPH_TRY(place_steps());
        return place_copies();
    }

   private:
    struct ValueBlock {
        std::int64_t begin, end;
        ir::ValueId value;
    };

    void place_bindings() {
        for (std::size_t i = 0; i < graph_.bindings().size(); ++i) {
            slot(graph_.bindings()[i].value) = {ValueSlot::Where::Pointer, static_cast<std::int64_t>(i)};
        }
    }

    void find_last_uses() {
        for (std::size_t i = 0; i < graph_.ops().size(); ++i) {
            for (ir::NamedValue const& in : ir::inputs_of(graph_.ops()[i])) last_use(graph_.storage_of(in.value)) = i;
            for (ir::NamedValue const& out : ir::outputs_of(graph_.ops()[i]))
                last_use(graph_.storage_of(out.value)) = i;
        }
    }

    // Places lengths computed from cumulative ones, which live throughout a run.
    error_t place_steps() {
        for (ir::ValueId const id : values_of_steps(graph_)) {
            ir::Value const& value = graph_.value(id);
            std::string const& sums = graph_.value(value.steps_of).name;
            if (value.dim[0] > (kMaxWorkspace - layout_.bytes) / core::size_of(value.type)) {
                return {error_code_t::GRAPH_NOT_SUPPORTED,
                        "The lengths computed from '" + sums +
                            "' need more than 2^47 bytes of workspace, which no host can "
                            "address; make the batch smaller.",
                        {"", "", sums}};
            }
            slot(id) = {ValueSlot::Where::Workspace, layout_.bytes};
            layout_.bytes += align_up(value.dim[0] * core::size_of(value.type));
        }
        return {};
    }

    // Places copies, which live throughout a run. Ragged tensors have one unless operations support offsets, and so do
    // results that operations read.
    Result<WorkspaceLayout> place_copies() {
        for (ir::Op const& op : graph_.ops()) {
            bool const knows_offsets = std::holds_alternative<ir::SdpaForwardOp>(op.body) ||
                                       std::holds_alternative<ir::SdpaBackwardOp>(op.body) ||
                                       std::holds_alternative<ir::PagedLoadOp>(op.body);
            for (ir::NamedValue const& in : ir::inputs_of(op)) {
                ir::ValueId const id = graph_.storage_of(in.value);
                if (is_rounded_result(id) || (is_ragged(id) && !knows_offsets)) place_copy(id);
            }
            for (ir::NamedValue const& out : ir::outputs_of(op)) {
                ir::ValueId const id = graph_.storage_of(out.value);
                if (is_ragged(id) && !knows_offsets) place_copy(id);
            }
            if (layout_.bytes > kMaxWorkspace) return too_large();
        }
        return std::move(layout_);
    }

    bool is_ragged(ir::ValueId id) const { return static_cast<bool>(graph_.value(id).ragged); }
    bool is_rounded_result(ir::ValueId id) const {
        ir::Value const& value = graph_.value(id);
        return value.role == ir::Role::Output && copied_type(value) != value.type;
    }

    void place_copy(ir::ValueId id) {
        if (slot(id).copy_at >= 0) return;
        ir::Value const& value = graph_.value(id);
        std::int64_t const size = core::size_of(copied_type(value)), most = kMaxWorkspace / size;
        auto const elements =
            value.ragged ? core::volume({value.dim[0], value.stride[0]}) : core::span_of(value.dim, value.stride);
        slot(id).copy_at = align_up(layout_.bytes);
        layout_.bytes = elements && *elements <= most ? slot(id).copy_at + *elements * size : kMaxWorkspace + 1;
        layout_.bytes = align_up(layout_.bytes);
    }

    // First fit: the first gap between live blocks that is large enough.
    void place(ir::ValueId id) {
        if (graph_.value(id).role != ir::Role::Virtual) return;
        std::int64_t const bytes = bytes_of(graph_.value(id));
        std::int64_t begin = 0;
        auto block = live_.begin();
        for (; block != live_.end() && block->begin - begin < bytes; ++block) begin = block->end;
        live_.insert(block, {begin, begin + bytes, id});
        layout_.bytes = std::max(layout_.bytes, begin + bytes);
        slot(id) = {ValueSlot::Where::Workspace, begin};
    }

    void release_after(std::size_t op) {
        std::erase_if(live_, [&](ValueBlock const& block) { return last_use(block.value) <= op; });
    }

    error_t too_large() const {
        if (live_.empty())
            return {error_code_t::GRAPH_NOT_SUPPORTED,
                    "The copies of ragged tensors and of outputs that operations read again need more than 2^47 bytes "
                    "of workspace; use Target::cpu(), which makes fewer."};
        auto const largest = std::max_element(live_.begin(), live_.end(), [](ValueBlock const& a, ValueBlock const& b) {
            return a.end - a.begin < b.end - b.begin;
        });
        ir::Value const& value = graph_.value(largest->value);
        return {
            error_code_t::GRAPH_NOT_SUPPORTED,
            "The values between the operations need more than 2^47 bytes of workspace, which no host can address; the "
            "largest is '" +
                value.name + "', dims " + core::to_string(value.dim) + ", strides " + core::to_string(value.stride) +
                ", held as DOUBLE. Make it smaller, or use Target::cpu(), whose "
                "attention does not hold the scores.",
            {"", "", value.name}};
    }

    ValueSlot& slot(ir::ValueId id) { return layout_.slots[static_cast<std::size_t>(id)]; }
    std::size_t& last_use(ir::ValueId id) { return last_use_[static_cast<std::size_t>(id)]; }

    ir::OpGraph const& graph_;
    std::vector<std::size_t> last_use_;  // the last operation that uses each storage
    std::vector<ValueBlock> live_;       // ascending
    WorkspaceLayout layout_;
};

}  // namespace

std::int64_t align_up(std::int64_t bytes) {
    return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

Result<WorkspaceLayout> lay_out(ir::OpGraph const& graph) { return WorkspacePlanner(graph).run(); }

}  // namespace cudnn_frontend::cpu
