#include "kernels/rates.h"

#include "cuda/rates.h"
#include "kernels/neighborhood_engine.h"

#include <string>

namespace cudnn_frontend::kernels {
namespace {

std::optional<PassRates> read_pass(std::string_view text, std::string const& pass) {
    auto const stage = cuda::read_rate(text, pass + "_stage"), width = cuda::read_rate(text, pass + "_width"),
               extra = cuda::read_rate(text, pass + "_extra");
    if (!stage || !width || !extra) return {};
    return PassRates{*stage, *width, *extra};
}

std::optional<NeighborhoodRates> read_form(std::string_view text, NeighborhoodForm form) {
    std::string const engine = engine_name(form);
    auto const forward = read_pass(text, engine + "_forward"), backward = read_pass(text, engine + "_backward");
    if (!forward || !backward) return {};
    return NeighborhoodRates{*forward, *backward};
}

}  // namespace

std::optional<Rates> read_rates(std::string_view text) {
    auto const start = cuda::read_rate(text, "start"), bandwidth = cuda::read_rate(text, "bandwidth");
    if (!start || !bandwidth) return {};
    return Rates{*start, *bandwidth, read_form(text, NeighborhoodForm::Tiles),
                 read_form(text, NeighborhoodForm::WarpGroups)};
}

}  // namespace cudnn_frontend::kernels
