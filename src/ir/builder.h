// Builds an op graph op by op. Each call adds one operation and returns its result, a virtual value unless told
// otherwise.
#pragma once

#include "ir/op_graph.h"

#include <initializer_list>
#include <string>

namespace cudnn_frontend::ir {

class Builder {
   public:
    ValueId add(Value value);
    Value const& value(ValueId id) const { return graph_.values_[static_cast<std::size_t>(id)]; }

    // The same elements with the dims a and b exchanged.
    ValueId transposed(ValueId id, std::size_t a, std::size_t b);
    // The same elements with a dim of size 1 repeated, by a stride of 0.
    ValueId repeated(ValueId id, std::size_t axis, std::int64_t times);
    // The same elements, of which no more is said than that their address is a multiple of so many bytes.
    ValueId aligned(ValueId id, std::int64_t bytes);
    ValueId constant(std::string name, detail::Scalar scalar);  // of dims {1,1,1,1}

    void add(Op op);

    // Checks the whole with verify().
    Result<OpGraph> finish() &&;

   private:
    OpGraph graph_;
};

}  // namespace cudnn_frontend::ir
