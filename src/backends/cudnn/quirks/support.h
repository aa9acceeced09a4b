// What cuDNN takes, and computes right, by its version and the GPU's architecture: one table,
// src/backends/cudnn/quirks/table.cpp. The rules of the graph itself are in src/nodes.
#pragma once

#include "core/capabilities.h"
#include "nodes/schema/validate.h"

#include <cudnn_frontend/report.h>

#include <span>
#include <string>

namespace cudnn_frontend::quirks {

// What limits ask of the graph's settings.
struct Settings {
    bool dynamic_shapes = false;
};

// The facts about a node that limits are about: of attention, but for limits of moves.
struct AttentionFacts {
    nodes::GraphSpec const& graph;
    nodes::Node const& node;
    nodes::AttentionFields const& fields;  // defaults where the node is none
    bool is_backward;
    Settings settings;

    nodes::TensorSpec const* tensor(int port) const { return graph.tensor(node, port); }
    bool has(int port) const { return tensor(port) != nullptr; }
    std::int64_t queries() const;
    std::int64_t keys() const;
    std::int64_t qk_dim() const;
    std::int64_t v_dim() const;
};

struct Violation {
    int port = -1;  // the tensor at fault; -1: the node
    std::string found;
};

// Why a limit stands: no engine takes the graph; engines take it but fail to run or compute it wrong; the backend's
// operation has no place for it, so that engines would not even be told; asking for engines ends the process.
enum class Ground { NoEngine, WrongRun, NoPlace, FatalQuestion };

// The nodes that a limit is about: attention, of one kind or all, or what moves elements.
enum class Of { All, Fp8, BlockScaled, Wider, Moves };

struct Limit {
    char const* id;         // cudnn.s07
    char const* statement;  // what is needed
    char const* fix;
    error_code_t code;
    Ground ground;
    // The first violation, if there is any.
    std::optional<Violation> (*check)(AttentionFacts const& facts, core::Capabilities const& capabilities);
    Of of = Of::All;
};

std::span<Limit const> limits();

// Every limit that the graph's nodes violate.
Report check(nodes::ValidatedGraph const& graph, core::Capabilities const& capabilities, Settings const& settings = {});

// Whether backward's engines mask what is left of the last tile of keys themselves.
bool masks_last_tile(core::Capabilities const& capabilities);

// Whether kernels that split the keys of one query compute the graph wrong: each part counts the sink, draws by
// positions of its own, and takes numbers of other heads.
bool is_wrong_in_parts(nodes::ValidatedGraph const& graph);

// Whether cuDNN computes the graph in one order in each run. Engines' notes do not tell.
bool is_deterministic(nodes::ValidatedGraph const& graph);

}  // namespace cudnn_frontend::quirks
