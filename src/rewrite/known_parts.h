// The attentions of programs that this process validated last: programs of one class of shapes have equal ones.
#pragma once

#include "core/result.h"
#include "nodes/validation/validate.h"

#include <cstddef>
#include <memory>

namespace cudnn_frontend::rewrite {

// Validates it, or finds the earlier result. As many are kept as the process's settings allow.
Result<std::shared_ptr<nodes::ValidatedGraph const>> validated_part(nodes::GraphSpec const& described);

void keep_parts_at_most(std::size_t most);

}  // namespace cudnn_frontend::rewrite
