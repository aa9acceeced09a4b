// Builds an op graph op by op. Each call adds one operation and returns its result, a virtual value unless stated
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
    ValueId constant(std::string name, detail::Scalar scalar);  // of dims {1,1,1,1}

    void add(Op op);

    // Checks the whole with verify().
    Result<OpGraph> finish() &&;

   private:
    OpGraph graph_;
};

}  // namespace cudnn_frontend::ir
