#include "nodes/fp8.h"

namespace cudnn_frontend::inline v1::nodes {

bool is_fp8(Node const& node) {
    if (attention_fields(node) == nullptr) return false;
    for (std::size_t port = 0; port < node.ports.size(); ++port) {
        if (is_fp8_port(static_cast<int>(port)) && node.ports[port] != kNoTensor) return true;
    }
    return false;
}

}  // namespace cudnn_frontend::inline v1::nodes
