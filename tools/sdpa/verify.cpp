#include "verify.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sdpa {
namespace {

double roundoff_of(fe::DataType_t type) {
    switch (type) {
        case fe::DataType_t::HALF: return 0x1p-11;
        case fe::DataType_t::BFLOAT16: return 0x1p-8;
        case fe::DataType_t::FP8_E4M3: return 0x1p-4;
        case fe::DataType_t::FP8_E5M2: return 0x1p-3;
        default: return 0x1p-21;
    }
}

// The coarsest type of the attention's tensors: probabilities are rounded to it before they are multiplied.
double roundoff_of_inputs(Memories const& memories, bool is_gpu) {
    double most = is_gpu ? 0x1p-11 : 0.0;
    for (auto const& [uid, memory] : memories) {
        if (!memory.is_output && (memory.port == "Q" || memory.port == "V" || memory.port == "dO"))
            most = std::max(most, roundoff_of(memory.type));
    }
    return most;
}

double root_mean_square(Memory const& memory) {
    double sum = 0.0;
    std::int64_t count = 0;
    memory.for_each([&](Sizes const&, std::int64_t at) {
        double const number = memory.get(at);
        if (!std::isfinite(number)) return;
        sum += number * number;
        ++count;
    });
    return count == 0 ? 0.0 : std::sqrt(sum / static_cast<double>(count));
}

Comparison compare_one(Memory const& got, Memory const& expected, double unit) {
    Comparison result{got.name, 0, 0, {}, 0.0, 0.0, 0.0, -1.0};
    double const scale = root_mean_square(expected);
    expected.for_each([&](Sizes const& index, std::int64_t at) {
        double const a = got.get(at), b = expected.get(at);
        double const allowed = 16.0 * unit * (std::abs(b) + scale);
        bool const is_equal = a == b || (std::isnan(a) && std::isnan(b));
        double const error = std::abs(a - b);
        double share = is_equal ? 0.0 : std::isfinite(error) ? error / std::max(allowed, 1e-300) : 1e300;
        ++result.elements;
        if (share > 1.0) ++result.wrong;
        if (share > result.share) result = {result.tensor, result.elements, result.wrong, index, a, b, allowed, share};
    });
    return result;
}

}  // namespace

std::vector<Comparison> compare(Memories const& got, Memories const& expected, bool is_gpu) {
    std::vector<Comparison> all;
    double const inputs = roundoff_of_inputs(expected, is_gpu);
    for (auto const& [uid, memory] : got) {
        if (!memory.is_output) continue;
        all.push_back(compare_one(memory, expected.at(uid), std::max(inputs, roundoff_of(memory.type))));
    }
    return all;
}

std::int64_t scores_of(Json const& document, Memories const& memories) {
    std::map<std::string, Memory const*> by_port;
    for (auto const& [uid, memory] : memories) by_port.insert({memory.port, &memory});
    if (!by_port.contains("Q") || !by_port.contains("K")) return 0;
    Sizes const& q = by_port["Q"]->dim;
    Sizes const& k = by_port["K"]->dim;
    if (q.size() != 4 || k.size() != 4) return 0;
    std::int64_t keys = k[2];
    if (by_port.contains("page_table_k")) keys *= by_port["page_table_k"]->dim[2];
    return q[0] * q[1] * q[2] * keys * static_cast<std::int64_t>(document.at("nodes").size());
}

}  // namespace sdpa
