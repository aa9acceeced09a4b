// Which programs a graph is offered.
#pragma once

#include "core/result.h"
#include "rewrite/costs.h"

#include <cudnn_frontend/types.h>

#include <optional>
#include <string>
#include <vector>

namespace cudnn_frontend::rewrite {

// The user's wishes: a policy, or a list of rewrites to try in its place.
struct Wishes {
    RewritePolicy_t policy = RewritePolicy_t::AUTO;
    std::optional<std::vector<Rewrite_t>> listed = {};

    friend bool operator==(Wishes const&, Wishes const&) = default;
};

inline Wishes no_rewrites() { return {.policy = RewritePolicy_t::OFF}; }

struct Offers {
    std::vector<Program> preferred;    // before the graph as it is
    std::vector<Program> spare;        // after it: where its workspace is too large
    std::vector<std::string> remarks;  // what was expected of programs, and why one that was asked for is not there
};

// The properties of a build, other than the graph, on which offers depend.
struct Circumstances {
    Wishes const& wishes;
    bool is_workspace_limited;  // a limit stands that the graph as it is may not keep to
    Costs const& costs;         // of what they do not know AUTO offers nothing for speed
};

Offers offers_for(nodes::ValidatedGraph const& graph, Circumstances const& circumstances);

// The program of that name, as it was offered before.
Result<Program> program_named(nodes::ValidatedGraph const& graph, std::string const& name);

}  // namespace cudnn_frontend::rewrite
