// Tensors of the tests in host memory, and the memory that calls ask for.
#pragma once

#include "core/data_type.h"
#include "support/random.h"

#include <sdpa_graph/place.h>

#include <memory>
#include <string>
#include <vector>

namespace sdpa_test {

using cudnn_frontend::DataType_t;
using sdpa_graph::Tensor_view;
using Dims = std::vector<std::int64_t>;

// Elements that nothing has written are NaN, and odd integers.
class Buffer {
   public:
    Buffer() = default;
    Buffer(DataType_t type, Dims dim) : Buffer(type, dim, sdpa_graph::row_major(dim)) {}
    Buffer(DataType_t type, Dims const& dim, Dims const& stride);

    static Buffer random(Random& random, DataType_t type, Dims const& dim, Dims const& stride);
    static Buffer integers(std::vector<std::int32_t> const& values);
    static Buffer long_integers(std::vector<std::int64_t> const& values);
    static Buffer floats(std::vector<float> const& values, Dims const& dim);

    Tensor_view& view() { return view_; }
    Tensor_view const& view() const { return view_; }

   private:
    std::shared_ptr<std::vector<std::byte>> memory_;
    Tensor_view view_;
};

double value_at(Tensor_view const& view, Dims const& index);

// Gives memory that outlives the calls, and remembers the requests.
struct Arena {
    std::vector<Buffer> buffers;
    std::vector<std::string> names;
    bool is_exhausted = false;

    sdpa_graph::Place place();
};

}  // namespace sdpa_test
