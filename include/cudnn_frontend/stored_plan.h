// The contents of a stored plan, read without a GPU and without cuDNN, and without loading it.
#pragma once

#include "target.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace cudnn_frontend {

// A plan that is a program is described with all of its parts together.
struct SDPA_GRAPH_API Stored_plan {
    Target::Kind target = Target::Kind::CPU;  // the graph was built for it
    std::string device;                       // such as NVIDIA H200; empty for a CPU
    std::size_t cudnn_version = 0;            // such as 91900; 0 if no kernel is cuDNN's
    std::string name;                         // from Graph::get_plan_name(), with the engine and its knobs
    std::int64_t workspace_bytes = 0;
    std::vector<std::string> kernels;  // their names, each once, in the order in which they run first
    std::string graph;                 // as JSON

    // Lines for people, without the graph.
    std::string to_text() const;
};

// Reads bytes that Graph::serialize() gave, in this process or another. The plan is unchanged if that fails.
SDPA_GRAPH_API error_t read_stored_plan(std::vector<std::uint8_t> const& bytes, Stored_plan& plan) noexcept;

}  // namespace cudnn_frontend
