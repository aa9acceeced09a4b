#include "nodes/attention/attention_node.h"

namespace cudnn_frontend::nodes {

namespace port = attention;

static constexpr std::array kForwardBlocks = {
    BlockScaled{port::Q, port::DescaleQ, 3},
    BlockScaled{port::K, port::DescaleK, 3},
    BlockScaled{port::V, port::DescaleV, 2},
};

static constexpr std::array kBackwardBlocks = {
    BlockScaled{port::Q, port::DescaleQ, 3},
    BlockScaled{port::QTransposed, port::DescaleQTransposed, 2},
    BlockScaled{port::K, port::DescaleK, 3},
    BlockScaled{port::KTransposed, port::DescaleKTransposed, 2},
    BlockScaled{port::V, port::DescaleV, 3},
    BlockScaled{port::DO, port::DescaleDO, 3},
    BlockScaled{port::DOTransposed, port::DescaleDOTransposed, 2},
};

bool is_fp8(Node const& node) {
    if (attention_fields(node) == nullptr) return false;
    if (is_block_scaled(node)) return true;
    for (std::size_t port = 0; port < node.ports.size(); ++port) {
        if (is_fp8_port(static_cast<int>(port)) && node.ports[port] != kNoTensor) return true;
    }
    return false;
}

bool is_block_scaled(Node const& node) {
    AttentionFields const* const fields = attention_fields(node);
    return fields != nullptr && fields->block_scaled;
}

std::span<BlockScaled const> block_scaled_ports(Node const& node) {
    if (!is_block_scaled(node)) return {};
    if (node.kind() == NodeKind::SdpaForward) return kForwardBlocks;
    return kBackwardBlocks;
}

}  // namespace cudnn_frontend::nodes
