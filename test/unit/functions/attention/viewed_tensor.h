// Packed tensors in memory of the host with views of them, and comparisons with a number.
#pragma once

#include "core/floats.h"

#include <sdpa_graph/attention.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace sdpa_test {

using cudnn_frontend::DataType_t;
using Dims = std::vector<std::int64_t>;

template <class Element>
struct ViewedTensor {
    std::vector<Element> elements;
    sdpa_graph::Tensor_view view;

    ViewedTensor(Dims const& dim, DataType_t type)
        : elements(static_cast<std::size_t>(dim[0] * dim[1] * dim[2] * dim[3])) {
        view.data = elements.data();
        view.dim = dim;
        view.stride = sdpa_graph::row_major(dim);
        view.type = type;
        view.device = sdpa_graph::Device_kind::CPU;
    }
};

struct HalfTensor : ViewedTensor<std::uint16_t> {
    explicit HalfTensor(Dims const& dim) : ViewedTensor(dim, DataType_t::HALF) {}

    template <class Make>
    HalfTensor(Dims const& dim, Make const& make) : HalfTensor(dim) {
        for (std::uint16_t& bits : elements) bits = cudnn_frontend::core::float_to_half(static_cast<float>(make()));
    }
    double sum() const {
        double all = 0.0;
        for (std::uint16_t const bits : elements) all += double{cudnn_frontend::core::half_to_float(bits)};
        return all;
    }
    // Infinity where an element is no number.
    double farthest_from(double expected) const {
        double farthest = 0.0;
        for (std::uint16_t const bits : elements) {
            double const distance = std::abs(double{cudnn_frontend::core::half_to_float(bits)} - expected);
            if (std::isnan(distance)) return HUGE_VAL;
            farthest = std::max(farthest, distance);
        }
        return farthest;
    }
};

}  // namespace sdpa_test
