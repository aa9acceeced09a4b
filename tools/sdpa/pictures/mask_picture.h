// A mask as a picture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sdpa {

struct Mask_picture {
    std::string caption;                                       // the title: in a browser, where the pointer rests
    std::int64_t height = 1, width = 1;                        // of the whole mask, which has the picture's proportions
    std::vector<std::vector<bool>> visible;                    // the cells by row and column, of all or of a sample
    std::optional<std::pair<std::size_t, std::size_t>> query;  // a cell in another color
};

struct Pixels {
    std::int64_t width = 0, height = 0;
};
// The size of the picture, whose longer side has so many.
Pixels pixels_of(Mask_picture const& picture, std::int64_t long_side);

std::string to_svg(Mask_picture const& picture);
// The bytes of a file.
std::string to_png(Mask_picture const& picture);

}  // namespace sdpa
