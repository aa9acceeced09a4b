// A mask as a small SVG picture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sdpa {

struct Mask_picture {
    std::string caption;                                       // shown where the pointer rests on the picture
    std::int64_t height = 1, width = 1;                        // of the whole mask, which has the picture's proportions
    std::vector<std::vector<bool>> visible;                    // the cells by row and column, of all or of a sample
    std::optional<std::pair<std::size_t, std::size_t>> query;  // a cell in another color
};

std::string to_svg(Mask_picture const& picture);

}  // namespace sdpa
