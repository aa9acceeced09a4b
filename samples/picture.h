// Matrices as pictures in the terminal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

namespace samples {

// Each element shaded by its share of the row's largest; a dot stands for exactly 0.
struct Picture {
    std::string title;
    std::size_t columns;
    std::vector<float> values;  // row by row
};

inline std::string shaded_row(Picture const& picture, std::size_t row) {
    auto const first = picture.values.begin() + static_cast<std::ptrdiff_t>(row * picture.columns);
    auto const last = first + static_cast<std::ptrdiff_t>(picture.columns);
    float const largest = *std::max_element(first, last);
    std::string line;
    for (auto x = first; x != last; ++x) {
        float const share = *x == 0.0f ? 0.0f : *x / largest;
        line += share == 0.0f ? "·" : share < 0.1f ? "░" : share < 0.3f ? "▒" : share < 0.6f ? "▓" : "█";
    }
    return line;
}

// Pictures of one size, several side by side.
inline void draw(std::vector<Picture> const& pictures, std::size_t side_by_side) {
    for (std::size_t start = 0; start < pictures.size(); start += side_by_side) {
        std::size_t const end = std::min(pictures.size(), start + side_by_side);
        std::size_t const columns = pictures[start].columns, rows = pictures[start].values.size() / columns;
        for (std::size_t n = start; n < end; ++n) std::printf("  %-*s", int(columns), pictures[n].title.c_str());
        for (std::size_t row = 0; row < rows; ++row) {
            std::printf("\n");
            for (std::size_t n = start; n < end; ++n) std::printf("  %s", shaded_row(pictures[n], row).c_str());
        }
        std::printf("\n\n");
    }
}

}  // namespace samples
