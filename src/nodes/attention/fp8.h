// 8-bit attention: the same node as other attention, whose tensors of 8 bits come with factors, and whose results come
// with their greatest magnitudes. Each tensor has one factor or, in block-scaled attention, one for each 32 numbers.
#pragma once

#include "nodes/schema/node.h"

#include <array>
#include <span>

namespace cudnn_frontend::nodes {

// Whether only 8-bit attention has the port: a factor where it is an input, a greatest magnitude where it is an output.
constexpr bool is_fp8_port(int port) { return attention::operand(port).part == attention::Part::Fp8; }
// Whether only block-scaled attention has the port.
constexpr bool is_block_port(int port) { return attention::operand(port).part == attention::Part::Blocks; }

// Whether the node is 8-bit attention: it has such a port connected, or says that it is block-scaled. Builders always
// connect the greatest magnitudes.
bool is_fp8(Node const& node);
bool is_block_scaled(Node const& node);

// A tensor of block-scaled attention, the port of its scales, and the axis that its product sums over, along which 32
// numbers share a scale.
struct BlockScaled {
    int tensor;
    int scale;
    std::size_t axis;
};
// Empty for attention that is not block-scaled.
std::span<BlockScaled const> block_scaled_ports(Node const& node);

}  // namespace cudnn_frontend::nodes
