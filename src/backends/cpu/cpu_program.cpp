#include "cpu/cpu_program.h"

#include "core/data_type.h"
#include "core/heap_bytes.h"
#include "core/names.h"
#include "cpu/attention/attention.h"
#include "cpu/interpreter/interpreter.h"
#include "cpu/memory/indices.h"
#include "cpu/memory/workspace.h"
#include "cpu/neighborhood/neighborhood_attention.h"
#include "ir/op_graph.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace cudnn_frontend::cpu {
namespace {

template <class Attention, class ViewOf>
AttentionTensors tensors_of(ir::OpGraph const& graph, Attention const& op, ViewOf const& view) {
    AttentionTensors tensors;
    for (attention::Operand const& row : attention::kOperands) {
        if (attention::is_of_operation(row)) tensors[row.port] = view(op.operands[row.port]);
    }
    std::int64_t const batches = tensors[Port::Q].dim[0], keys = ir::key_count(graph, op);
    tensors[Port::K] = paged_view(tensors[Port::K], tensors[Port::PageTableK], batches, keys);
    tensors[Port::V] = paged_view(tensors[Port::V], tensors[Port::PageTableV], batches, keys);
    return tensors;
}

error_t check_types(ir::OpGraph const& graph) {
    for (ir::Value const& value : graph.values()) {
        if (core::has_host_elements(stored_type(value))) continue;
        return {
            error_code_t::GRAPH_NOT_SUPPORTED,
            "Tensor '" + value.name + "' is of type " + core::name_of(value.type) +
                "; the CPU targets support FLOAT, DOUBLE, HALF, BFLOAT16, FP8_E4M3, FP8_E5M2, FP8_E8M0, INT32, INT64, "
                "INT8, UINT8 and BOOLEAN.",
            {"", "", value.name}};
    }
    return {};
}

// Views that have only the tensors' shapes and whether they are connected: nothing is read through them.
struct ShapeOf {
    ir::OpGraph const& graph;

    DataView operator()(ir::ValueId id) const {
        static char present = 0;
        return id == ir::kNoValue ? DataView() : make_view(graph.value(id), &present);
    }
};

// Bytes of scratch that an operation needs; empty if no host could address them.
class ScratchOf {
   public:
    ScratchOf(ir::OpGraph const& graph, int threads) : graph_(graph), threads_(threads) {}

    std::optional<std::int64_t> operator()(ir::MatmulOp const& op) const {
        auto const doubles = interpreter_scratch(graph_, op);
        constexpr std::int64_t size = sizeof(double);
        return doubles && *doubles <= kMaxWorkspace / size ? std::optional(*doubles * size) : std::nullopt;
    }
    std::optional<std::int64_t> operator()(ir::SdpaForwardOp const& op) const {
        return in_range(forward_workspace(tensors_of(graph_, op, ShapeOf{graph_}), modifier_of(op), threads_));
    }
    std::optional<std::int64_t> operator()(ir::SdpaBackwardOp const& op) const {
        return in_range(backward_workspace(tensors_of(graph_, op, ShapeOf{graph_}), modifier_of(op), threads_));
    }
    std::optional<std::int64_t> operator()(ir::NeighborhoodOp const& op) const {
        return in_range(neighborhood_workspace(problem_of(graph_, op), threads_));
    }
    template <class Other>
    std::optional<std::int64_t> operator()(Other const&) const {
        return 0;
    }

   private:
    template <class Attention>
    ScoreProgram modifier_of(Attention const& op) const {
        return ScoreProgram(op.region, [this](ir::ValueId id) {
            return ScoreTensor{ShapeOf{graph_}(id), graph_.value(id).type};
        });
    }
    static std::optional<std::int64_t> in_range(std::int64_t bytes) {
        return bytes >= 0 && bytes <= kMaxWorkspace ? std::optional(bytes) : std::nullopt;
    }

    ir::OpGraph const& graph_;
    int threads_;
};

Result<std::int64_t> scratch_of(ir::OpGraph const& graph, int threads) {
    std::int64_t most = 0;
    for (ir::Op const& op : graph.ops()) {
        auto const bytes = std::visit(ScratchOf(graph, threads), op.body);
        if (!bytes) {
            return error_t(
                error_code_t::GRAPH_NOT_SUPPORTED,
                std::string("Operation ") + ir::kind_name(op) + " '" + op.name +
                    "' needs more than 2^47 bytes to work in, which no host can address. Make its tensors smaller.",
                {"", op.name, ""});
        }
        most = std::max(most, *bytes);
    }
    return most;
}

std::byte* aligned(void* workspace) {
    auto const address = reinterpret_cast<std::uintptr_t>(workspace);
    auto const beyond = address % static_cast<std::uintptr_t>(kWorkspaceAlignment);
    auto* const bytes = static_cast<std::byte*>(workspace);
    return beyond == 0 ? bytes : bytes + (static_cast<std::uintptr_t>(kWorkspaceAlignment) - beyond);
}

struct ProgramRun {
    ir::OpGraph const& graph;
    Memory const& memory;
    int threads;
    std::byte* scratch;

    error_t operator()(ir::SdpaForwardOp const& op) const { return run(attention_forward, work_of(op)); }
    error_t operator()(ir::SdpaBackwardOp const& op) const { return run(attention_backward, work_of(op)); }
    error_t operator()(ir::NeighborhoodOp const& op) const {
        neighborhood_attention(problem_of(graph, op, memory), threads, scratch);
        return {};
    }
    template <class Primitive>
    error_t operator()(Primitive const& op) const {
        interpret(op, memory, reinterpret_cast<double*>(scratch));
        return {};
    }

   private:
    error_t run(error_t (*attend)(AttentionWork, int, void*), AttentionWork work) const {
        work.most_threads = useful_threads(work.tensors);
        return attend(std::move(work), threads, scratch);
    }
    template <class Attention>
    AttentionWork work_of(Attention const& op) const {
        auto const view = [this](ir::ValueId id) { return memory.view(id); };
        auto const tensor = [this](ir::ValueId id) { return ScoreTensor{memory.view(id), graph.value(id).type}; };
        return {tensors_of(graph, op, view), op.options, ScoreProgram(op.region, tensor)};
    }
};

}  // namespace

Result<std::shared_ptr<CpuProgram const>> CpuProgram::plan(ir::OpGraph graph, int threads) {
    SDPA_GRAPH_TRY(ir::verify(graph));
    SDPA_GRAPH_TRY(check_types(graph));
    std::shared_ptr<CpuProgram> const program(new CpuProgram);
    constexpr int kMaxThreads = 256;
    program->threads_ = std::min(threads, kMaxThreads);

    Result<WorkspaceLayout> layout = lay_out(graph);
    if (layout.is_bad()) return layout.error();
    Result<std::int64_t> const scratch = scratch_of(graph, program->threads_);
    if (scratch.is_bad()) return scratch.error();

    std::int64_t const bytes = layout.value().bytes + scratch.value();
    program->slots_ = std::move(layout).value().slots;
    program->scratch_offset_ = bytes - scratch.value();
    // The caller's workspace may have any alignment.
    program->workspace_size_ = bytes == 0 ? 0 : bytes + kWorkspaceAlignment - 1;
    program->steps_ = values_of_steps(graph);
    program->graph_ = std::move(graph);
    return std::shared_ptr<CpuProgram const>(program);
}

std::size_t CpuProgram::bytes() const {
    return sizeof *this + ir::heap_bytes(graph_) + core::heap_bytes(slots_) + core::heap_bytes(steps_);
}

error_t CpuProgram::run(std::span<void* const> pointers, void* workspace, Inspect const& inspect) const {
    std::byte* const base = aligned(workspace);
    Memory const memory(graph_, slots_, pointers, base);
    compute_steps(graph_, steps_, memory);
    SDPA_GRAPH_TRY(check_indices(graph_, memory));
    std::vector<PackedSequences> const sequences = sequences_of(graph_, memory);
    if (inspect) SDPA_GRAPH_TRY(inspect(sequences));
    fill_copies(graph_, memory, sequences);
    ProgramRun const run_op{graph_, memory, threads_, base + scratch_offset_};
    for (ir::Op const& op : graph_.ops()) SDPA_GRAPH_TRY(std::visit(run_op, op.body));
    store_copies(graph_, memory, sequences);
    return {};
}

}  // namespace cudnn_frontend::cpu
