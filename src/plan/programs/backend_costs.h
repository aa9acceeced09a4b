// The expected costs of graphs and joints on a target, as the backends that run them say.
#pragma once

#include "plan/seam/backend.h"

namespace cudnn_frontend::plan {

// Among the backends that support a graph, or that join, the first one that knows the cost gives it: its engines come
// first. Each looks for its figures when it is first asked, which may need calls of a library. For one thread.
class BackendCosts final : public rewrite::Costs {
   public:
    // The arguments outlive it.
    BackendCosts(Target const& target, Settings const& settings, Backends const& backends)
        : target_(target), settings_(settings), backends_(backends), figures_(backends.size()) {}

    std::optional<double> of(nodes::ValidatedGraph const& graph) const override;
    std::optional<double> of(rewrite::Joint const& joint) const override;

   private:
    struct Figures {
        bool is_known = false;
        std::unique_ptr<rewrite::Costs const> costs = nullptr;  // null where the backend has none
    };

    template <class Work, class Runs>
    std::optional<double> first_known(Work const& work, Runs const& runs) const;
    rewrite::Costs const* costs_of(std::size_t backend) const;

    Target const& target_;
    Settings const& settings_;
    Backends const& backends_;
    mutable std::vector<Figures> figures_;  // of each backend
};

}  // namespace cudnn_frontend::plan
