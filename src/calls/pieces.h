// The pieces of scratch memory that a call needs, in one allocation.
#pragma once

#include "core/dims.h"

#include <cstdint>
#include <initializer_list>

namespace sdpa_graph::calls {

class Pieces {
   public:
    // Adds the product of the factors as bytes, and returns where they begin.
    std::int64_t add(std::initializer_list<std::int64_t> factors) {
        using cudnn_frontend::core::saturating_add;
        constexpr std::int64_t kAlignment = 256;
        std::int64_t bytes = 1;
        for (std::int64_t const factor : factors) bytes = cudnn_frontend::core::saturating_multiply(bytes, factor);
        std::int64_t const offset = bytes_;
        bytes_ = saturating_add(bytes_, saturating_add(bytes, kAlignment - 1) / kAlignment * kAlignment);
        return offset;
    }
    std::int64_t bytes() const { return bytes_; }

   private:
    std::int64_t bytes_ = 0;
};

}  // namespace sdpa_graph::calls
