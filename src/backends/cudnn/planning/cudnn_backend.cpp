#include "cudnn/planning/cudnn_backend.h"

#include "cudnn/planning/graph_cache.h"
#include "cudnn/planning/lowering.h"
#include "cudnn/planning/proposal.h"
#include "cudnn/planning/stored_plan.h"

namespace cudnn_frontend::cudnn {

bool Backend::serves(Target const& target) const {
    return target.kind() == Target::Kind::CUDA || target.kind() == Target::Kind::OFFLINE;
}

Result<std::shared_ptr<plan::Proposal const>> Backend::propose(plan::PlanningInput const& input) const {
    auto work = lower_for_cudnn(input, check_indices_);
    if (work.is_bad()) return work.error();
    return std::shared_ptr<plan::Proposal const>(std::make_shared<Proposal>(std::move(work).value()));
}

void Backend::keep_at_most(std::size_t most) const { GraphCache::of_process().keep_at_most(most); }

Result<plan::Loaded> Backend::load(plan::PlanningInput const& input, std::string_view stored) const {
    return load_stored_plan(input, stored, check_indices_);
}

}  // namespace cudnn_frontend::cudnn
