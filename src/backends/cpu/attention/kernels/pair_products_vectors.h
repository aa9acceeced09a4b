// Products of pairs by vectors: part of pair_kernels_body.h.
#pragma once

namespace cudnn_frontend::cpu {
namespace {

void begin() {}
void end() {}

struct Scale {
    float factor;
    Vector operator()(Vector, Vector sum, int) const { return sum * factor; }
};

void multiply_pairs(PairProduct const& product, float scale) {
    multiply_all<FactorLayout::DepthMajor, Zeros::Multiply>(product, Scale{scale});
}

void rescale_and_multiply_pairs(PairProduct const& product, float const* factors) {
    multiply_all<FactorLayout::DepthMajor, Zeros::Multiply>(product, Rescale<Zeros::LeaveOut>{factors});
}

void multiply_tile_of_pairs(PairProduct const& product) {
    multiply_all<FactorLayout::Tile, Zeros::Multiply>(product, Add{});
}

// Products in the meantime: there are none.
template <class Work>
[[gnu::always_inline]] inline void multiply_meanwhile(ProductsMeanwhile const&, Work& work) {
    while (!work.is_done()) work.go_on();
    work.release_rows();
}

}  // namespace
}  // namespace cudnn_frontend::cpu
