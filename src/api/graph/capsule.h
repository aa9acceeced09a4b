// Capsules: what a report of a failure needs, as one JSON document, docs/capsules.md. No data of tensors.
#pragma once

#include "api/graph/graph_impl.h"
#include "plan/packs/pack.h"

namespace cudnn_frontend::api {

// A stage or a run that failed.
struct Failure {
    char const* stage;
    error_t const& error;
};

// Parts that the graph has not come to yet are missing. The pack may be faulty; null where there is none.
std::string write_capsule(graph::Graph const& graph, plan::PackSource const* pack, Failure const* failure);

// While it exists, this thread keeps no capsules: its failures are answers.
class WithoutCapsules {
   public:
    WithoutCapsules();
    WithoutCapsules(WithoutCapsules const&) = delete;
    WithoutCapsules& operator=(WithoutCapsules const&) = delete;
    ~WithoutCapsules();

   private:
    bool was_without_;
};

// Writes a capsule into the folder of SDPA_GRAPH_CAPSULES, if that is set; equal ones once, and at most 100 in a
// process. The log says if that fails.
[[gnu::cold]] void keep_capsule(graph::Graph const& graph, plan::PackSource const* pack,
                                Failure const& failure) noexcept;

}  // namespace cudnn_frontend::api
