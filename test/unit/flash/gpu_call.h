// Calls as if their tensors were in a GPU's memory.
#pragma once

#include "example.h"
#include "flash/call.h"

#include <list>

namespace flash_test {

class Gpu_call {
   public:
    Gpu_call(bool is_backward, bool is_packed, sdpa_graph::flash::Place const& place)
        : call{.function = "", .is_backward = is_backward, .is_packed = is_packed, .place = &place} {}
    Gpu_call(Padded const& example, bool is_backward);
    Gpu_call(Packed const& example, bool is_backward);
    Gpu_call(Gpu_call const&) = delete;
    Gpu_call& operator=(Gpu_call const&) = delete;

    // A tensor without memory is not there.
    void set(sdpa_graph::flash::Argument argument, sdpa_graph::flash::Optional_tensor const& view);

    sdpa_graph::flash::Call call;

   private:
    template <class Example>
    void set_all(Example const& example, bool is_backward);

    std::list<Tensor_view> views_;  // the call points to them
};

}  // namespace flash_test
