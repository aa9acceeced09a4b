// Tensors of functions over tensors, right or nearly. They lie in the middle of a block that all small dims and strides
// stay in.
#pragma once

#include "support/random.h"

#include <sdpa_graph/place.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

namespace fuzz {

using cudnn_frontend::DataType_t;
using sdpa_graph::Tensor_view;
using sdpa_test::Random;

inline constexpr std::size_t kBlock = 1 << 18;  // bytes of each tensor

// Changes one property of the view, to something that its block has room for.
inline void change(Random& random, Tensor_view& view) {
    std::size_t const d = view.dim.empty() ? 0 : static_cast<std::size_t>(random.between(0, 3)) % view.dim.size();
    switch (random.between(0, 6)) {
        case 0: view.data = nullptr; break;
        case 1: view.type = random.pick({DataType_t::FLOAT, DataType_t::BFLOAT16, DataType_t::NOT_SET}); break;
        case 2: view.device = random.pick({sdpa_graph::Device_kind::UNKNOWN, sdpa_graph::Device_kind::CPU}); break;
        case 3: view.is_read_only = true; break;
        case 4: view.dim.pop_back(); break;
        case 5:
            if (!view.dim.empty()) view.dim[d] = random.pick({-1, 0, 1, 2, 3});
            break;
        default:
            if (!view.stride.empty()) view.stride[d] = random.pick({-8, 0, 1, 2, 16, 64});
            break;
    }
}

struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
};

struct Blocks {
    std::vector<std::unique_ptr<std::byte, Free>> memory;

    // A block of zeros. The system finds memory for its pages when they are written, which few of them are.
    void* middle() {
        memory.emplace_back(static_cast<std::byte*>(std::calloc(kBlock, 1)));
        return memory.back().get() + kBlock / 2;
    }
    static void* allocate(void* self, char const*, Tensor_view const& wanted) {
        std::int64_t elements = 1;
        for (std::int64_t const size : wanted.dim) elements *= std::min<std::int64_t>(size, kBlock);
        bool const fits = elements * 8 <= static_cast<std::int64_t>(kBlock) / 2;
        return fits ? static_cast<Blocks*>(self)->middle() : nullptr;
    }

    // Odd ones have one property changed now and then.
    Tensor_view tensor(Random& random, DataType_t type, std::vector<std::int64_t> const& dim, bool is_odd) {
        Tensor_view view{middle(), dim, sdpa_graph::row_major(dim), type, sdpa_graph::Device_kind::CPU};
        if (is_odd && random.chance(0.1)) change(random, view);
        return view;
    }
    Tensor_view integers(Random& random, std::vector<std::int32_t> const& values, bool is_odd) {
        Tensor_view const view = tensor(random, DataType_t::INT32, {static_cast<std::int64_t>(values.size())}, is_odd);
        for (std::size_t i = 0; i < values.size() && view.data != nullptr; ++i)
            static_cast<std::int32_t*>(view.data)[i] = is_odd && random.chance(0.1) ? 7 : values[i];
        return view;
    }
};

}  // namespace fuzz
