#include "pipeline/plan.h"

#include "cpu/program.h"

#include <utility>

namespace cudnn_frontend::inline v1::pipeline {
namespace {

error_t check_workspace(std::int64_t needed, void const* workspace, std::int64_t bytes) {
    if (needed == 0) return {};
    std::string const size = std::to_string(needed);
    if (bytes >= 0 && bytes < needed) {
        return {error_code_t::INVALID_VARIANT_PACK, "the workspace has " + std::to_string(bytes) +
                                                        " bytes; the plan needs " + size +
                                                        ", which get_workspace_size() tells"};
    }
    if (workspace == nullptr) {
        return {error_code_t::INVALID_VARIANT_PACK,
                "the workspace is null; the plan needs " + size + " bytes, which get_workspace_size() tells"};
    }
    return {};
}

class HostPlan final : public Plan {
   public:
    HostPlan(std::shared_ptr<cpu::Program const> program, std::string name, std::uint64_t graph_id)
        : program_(std::move(program)),
          name_(std::move(name)),
          graph_id_(graph_id),
          slots_(make_slots(program_->graph())) {}

    std::string name() const override { return name_; }
    std::int64_t workspace_size() const override { return program_->workspace_size(); }
    std::vector<Slot> const& slots() const override { return slots_; }

    error_t execute(cudnnHandle_t, Variant_pack pack, void* workspace, std::int64_t workspace_bytes) const override {
        std::vector<void*> pointers;
        SDPA_GRAPH_TRY(resolve(pack, graph_id_, slots_, pointers));
        SDPA_GRAPH_TRY(check_host_memory(slots_, pointers));
        SDPA_GRAPH_TRY(check_workspace(workspace_size(), workspace, workspace_bytes));
        return program_->run(pointers, workspace);
    }

   private:
    std::shared_ptr<cpu::Program const> program_;
    std::string name_;
    std::uint64_t graph_id_;
    std::vector<Slot> slots_;
};

}  // namespace

Result<std::shared_ptr<Plan const>> make_host_plan(ir::OpGraph const& graph, Target const& target,
                                                   std::uint64_t graph_id) {
    auto program = cpu::Program::plan(graph, target.threads());
    if (program.is_bad()) return program.error();
    return std::shared_ptr<Plan const>(std::make_shared<HostPlan>(program.value(), to_string(target.kind()), graph_id));
}

}  // namespace cudnn_frontend::inline v1::pipeline
