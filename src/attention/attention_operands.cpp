#include "attention/attention_operands.h"

#include "attention/masks.h"

#include <algorithm>
#include <string_view>

namespace cudnn_frontend::attention {
namespace {

consteval bool has_one_row_for_each_port() {
    for (int port = 0; port < PortCount; ++port) {
        if (std::ranges::count(kOperands, port, &Operand::port) != 1) return false;
    }
    return true;
}
static_assert(has_one_row_for_each_port());

consteval bool has_each_name_once() {
    for (Operand const& row : kOperands) {
        auto const is_namesake = [&](Operand const& other) {
            return std::string_view(other.name) == std::string_view(row.name);
        };
        if (std::ranges::count_if(kOperands, is_namesake) != 1) return false;
    }
    return true;
}
static_assert(has_each_name_once());

// Whether the row is the gradient of a tensor that backward reads. Forward has no gradients.
constexpr bool is_gradient_sound(Operand const& row) {
    return row.gradient_of == PortCount || (row.forward == Use::None && reads(operand(row.gradient_of).backward));
}
static_assert(std::ranges::all_of(kOperands, is_gradient_sound));

std::int64_t size_of(Size size, Sizes const& sizes) {
    switch (size) {
        case Size::One: return 1;
        case Size::B: return sizes.batches;
        case Size::Hq: return sizes.heads;
        case Size::Sq: return sizes.queries;
        case Size::Skv: return sizes.keys;
        case Size::Dv: return sizes.value_width;
        case Size::Ends: {
            // A rule refuses so many that no number counts their ends.
            bool const is_countable = sizes.batches != std::numeric_limits<std::int64_t>::max();
            return sizes.batches != kUnknown && is_countable ? sizes.batches + 1 : kUnknown;
        }
        case Size::QueryTiles: return sizes.queries == kUnknown ? kUnknown : mask_tiles(sizes.queries);
        case Size::KeyTileBytes: return sizes.keys == kUnknown ? kUnknown : mask_bytes(sizes.keys);
        case Size::Hk:
        case Size::Hv:
        case Size::Dqk:
        case Size::Pages:
        case Size::Blocks: return kUnknown;
    }
    return kUnknown;
}

}  // namespace

core::Dims dims_of(Shape const& shape, Sizes const& sizes) {
    core::Dims dims;
    for (Size const size : shape.sizes) {
        dims.push_back(size_of(size, sizes));
        if (dims.back() == kUnknown) return {};
    }
    return dims;
}

}  // namespace cudnn_frontend::attention
