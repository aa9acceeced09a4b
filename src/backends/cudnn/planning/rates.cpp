#include "cudnn/planning/rates.h"

#include "cuda/rates.h"

namespace cudnn_frontend::cudnn {
namespace {

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
                               {"decode_heads", &Rates::decode_heads}};

}  // namespace

std::optional<Rates> read_rates(std::string_view text) {
    Rates rates;
    for (Figure const& figure : kFigures) {
        auto const value = cuda::read_rate(text, figure.name);
        if (!value) return {};
        rates.*figure.value = *value;
    }
    rates.backward_192_128_tile = cuda::read_rate(text, "backward_192_128_tile");
    rates.backward_192_128_deterministic_tile = cuda::read_rate(text, "backward_192_128_deterministic_tile");
    return rates;
}

}  // namespace cudnn_frontend::cudnn
