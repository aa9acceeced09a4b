// Memory of results, and scratch memory.
#pragma once

#include "core/result.h"
#include "flash/call.h"

#include <cstddef>
#include <memory>

namespace sdpa_graph::flash {

// Makes the result of the argument: what was passed, else what the allocator gives. From then on the call has it.
error_t provide(Call& call, Sizes const& sizes, Argument argument, DataType_t type, Tensor_view& result);

// Owned on a CPU; on a GPU the allocator's, of which the caller takes care.
class Workspace {
   public:
    static fe::Result<Workspace> make(Call const& call, std::int64_t bytes);

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

// In host memory.
void fill_zeros(Tensor_view const& view);
void fill(Tensor_view const& contiguous_floats, float value);

std::int64_t elements_of(Tensor_view const& view);  // the greatest number there is where they are more

}  // namespace sdpa_graph::flash
