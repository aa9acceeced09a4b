// Shared by the FP8 samples: quantization on the host, and scales and descales as tensors.
#pragma once

#include <cudnn_frontend/fp8.h>

#include "support.h"

namespace samples {

inline float amax(std::vector<float> const& numbers) {
    float greatest = 0.0f;
    for (float const x : numbers) greatest = std::fmax(greatest, std::fabs(x));
    return greatest;
}

// Numbers quantized to 8 bits: an element times the descale is the number.
template <class T>
struct Quantized {
    std::vector<T> data;
    fe::Fp8_scale factor;

    // The numbers after rounding.
    std::vector<double> values() const {
        std::vector<double> all;
        for (T const x : data) all.push_back(static_cast<double>(static_cast<float>(x) * factor.descale));
        return all;
    }
};

// Current scaling: by the numbers' own amax.
template <class T>
Quantized<T> quantized(std::vector<float> const& numbers) {
    constexpr bool is_e4m3 = std::is_same<T, fe::fp8_e4m3>::value;
    Quantized<T> result;
    result.factor = fe::fp8_scale(is_e4m3 ? fe::DataType_t::FP8_E4M3 : fe::DataType_t::FP8_E5M2, amax(numbers));
    for (float const x : numbers) result.data.push_back(T(x * result.factor.scale));
    return result;
}

inline Tensor one_float(fe::graph::Graph& graph, char const* name, Index uid) {
    return graph.tensor(describe(name, bhsd(1, 1, 1, 1)).set_uid(uid).set_data_type(fe::DataType_t::FLOAT));
}

// Dequantized 8-bit results.
template <class T>
std::vector<double> rescaled(std::vector<T> const& data, float scale) {
    std::vector<double> values;
    for (T const x : data) values.push_back(static_cast<double>(static_cast<float>(x)) / static_cast<double>(scale));
    return values;
}

}  // namespace samples
