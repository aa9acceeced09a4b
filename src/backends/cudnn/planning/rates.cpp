#include "cudnn/planning/rates.h"

#include "cudnn/offline/devices.h"

#include <algorithm>
#include <charconv>
#include <string>

namespace cudnn_frontend::cudnn {
namespace {

struct File {
    std::string_view name, text;
};

constexpr File kFiles[] = {
#include "rates.inc"
};

struct Figure {
    std::string_view name;
    double Rates::*value;
};

constexpr Figure kFigures[] = {{"start", &Rates::start},
                               {"bandwidth", &Rates::bandwidth},
                               {"forward_tile", &Rates::forward_tile},
                               {"forward_width", &Rates::forward_width},
                               {"backward_tile", &Rates::backward_tile},
                               {"backward_width", &Rates::backward_width},
                               {"decode_heads", &Rates::decode_heads},
                               {"neighborhood_forward_tile", &Rates::neighborhood_forward_tile},
                               {"neighborhood_forward_width", &Rates::neighborhood_forward_width},
                               {"neighborhood_backward_tile", &Rates::neighborhood_backward_tile},
                               {"neighborhood_backward_width", &Rates::neighborhood_backward_width}};

// "name number"; other lines set nothing.
void read_line(std::string_view line, Rates& rates) {
    std::size_t const space = line.find(' ');
    if (space == line.npos) return;
    auto const figure = std::ranges::find(kFigures, line.substr(0, space), &Figure::name);
    if (figure == std::end(kFigures)) return;
    std::from_chars(line.data() + space + 1, line.data() + line.size(), rates.*figure->value);
}

}  // namespace

std::optional<Rates> parse_rates(std::string_view text) {
    Rates rates;
    while (!text.empty()) {
        std::size_t const end = std::min(text.find('\n'), text.size());
        read_line(text.substr(0, end), rates);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    bool const is_whole =
        std::ranges::all_of(kFigures, [&](Figure const& figure) { return rates.*figure.value > 0.0; });
    return is_whole ? std::optional(rates) : std::nullopt;
}

std::optional<Rates> rates_of(std::string_view device_name) {
    std::string const name = offline::model_of(device_name) + ".txt";
    auto const file = std::ranges::find(kFiles, name, &File::name);
    return file == std::end(kFiles) ? std::nullopt : parse_rates(file->text);
}

}  // namespace cudnn_frontend::cudnn
