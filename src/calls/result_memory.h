// Memory of results, and scratch memory.
#pragma once

#include "core/dims.h"
#include "core/findings.h"
#include "core/result.h"

#include <sdpa_graph/place.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>

namespace sdpa_graph::calls {

namespace fe = cudnn_frontend;
using fe::error_t;

// The function that asks for memory, and the rule that is violated if there is none.
struct AllocationRequest {
    Place const& place;
    char const* function;
    fe::core::Rule const& rule;
};

// A row-major view without memory, on the device of the tensor.
Tensor_view view_on_device_of(Tensor_view const& tensor, std::span<std::int64_t const> dim, fe::DataType_t type);

// Gives the view memory of the place's allocator.
error_t allocate(AllocationRequest const& request, char const* name, Tensor_view& wanted);

// Owns its memory on a CPU; on a GPU the memory is the allocator's, and the caller takes care of it.
class Workspace {
   public:
    static fe::Result<Workspace> make(AllocationRequest const& request, Tensor_view const& tensor, std::int64_t bytes);

    void* data() const { return data_; }

   private:
    std::unique_ptr<std::byte[]> owned_;
    void* data_ = nullptr;
};

// Host memory of so many elements, not initialized.
template <class T>
std::unique_ptr<T[]> scratch(std::int64_t elements) {
    return std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(elements));
}

// The pieces of scratch memory that a call needs, in one allocation.
class ScratchPieces {
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
