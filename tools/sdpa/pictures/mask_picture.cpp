#include "pictures/mask_picture.h"

#include "output.h"

#include <algorithm>

namespace sdpa {
namespace {

constexpr std::int64_t kLongSide = 96, kShareOfLeastSide = 16;  // in pixels; of the longer side

std::string number(std::size_t value) { return std::to_string(value); }

// A rectangle for each run of visible cells, of all rows below each other that are equal.
std::string path_of(std::vector<std::vector<bool>> const& cells) {
    std::string path;
    for (std::size_t row = 0, next = 0; row < cells.size(); row = next) {
        while (next < cells.size() && cells[next] == cells[row]) ++next;
        std::vector<bool> const& line = cells[row];
        for (std::size_t first = 0; first < line.size(); ++first) {
            if (!line[first]) continue;
            std::size_t last = first;
            while (last < line.size() && line[last]) ++last;
            path += "M" + number(first) + " " + number(row) + "h" + number(last - first) + "v" + number(next - row) +
                    "H" + number(first) + "z";
            first = last;
        }
    }
    return path;
}

}  // namespace

Pixels pixels_of(Mask_picture const& picture, std::int64_t long_side) {
    auto const pixels = [&](std::int64_t side, std::int64_t other) {
        return side >= other ? long_side : std::max(long_side / kShareOfLeastSide, long_side * side / other);
    };
    return {pixels(picture.width, picture.height), pixels(picture.height, picture.width)};
}

std::string to_svg(Mask_picture const& picture) {
    std::size_t const rows = picture.visible.size(), columns = rows == 0 ? 0 : picture.visible.front().size();
    std::string const size = "width='" + number(columns) + "' height='" + number(rows) + "'";
    Pixels const pixels = pixels_of(picture, kLongSide);
    std::string text = "<svg xmlns='http://www.w3.org/2000/svg' width='" + std::to_string(pixels.width) + "' height='" +
                       std::to_string(pixels.height) + "' viewBox='0 0 " + number(columns) + " " + number(rows) +
                       "' preserveAspectRatio='none' shape-rendering='crispEdges'>\n<title>" +
                       escaped(picture.caption) + "</title>\n<style>.hidden{fill:#d8dee4}.visible{fill:#0969da}" +
                       ".query{fill:#cf222e}@media(prefers-color-scheme:dark){.hidden{fill:#3d444d}}</style>\n" +
                       "<rect " + size + " class='hidden'/>\n<path class='visible' d='" + path_of(picture.visible) +
                       "'/>\n";
    if (picture.query)
        text += "<rect x='" + number(picture.query->second) + "' y='" + number(picture.query->first) +
                "' width='1' height='1' class='query'/>\n";
    return text + "</svg>\n";
}

}  // namespace sdpa
