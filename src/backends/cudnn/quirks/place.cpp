#include "cudnn/quirks/place.h"

#include <vector>

namespace cudnn_frontend::quirks {

std::string version_text(std::size_t version) {
    return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
           std::to_string(version % 100);
}

std::string to_text(Versions const& versions) {
    if (versions.from == 0) return versions.until == 0 ? "every" : "before " + version_text(versions.until);
    std::string const from = version_text(versions.from);
    return versions.until == 0 ? "from " + from : from + " to below " + version_text(versions.until);
}

std::string Architectures::to_text() const {
    if (families_ == kEvery.families_) return "every";
    constexpr char const* kNames[] = {"before 8.0", "8.x", "9.0", "10.x and 11.x", "12.x"};
    std::string text;
    for (std::size_t family = 0; family < std::size(kNames); ++family) {
        if ((families_ >> family & 1) != 0) text += (text.empty() ? "" : ", ") + std::string(kNames[family]);
    }
    return text;
}

}  // namespace cudnn_frontend::quirks
