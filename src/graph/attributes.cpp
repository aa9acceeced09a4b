#include <cudnn_frontend/attributes.h>

#include "graph/attributes_access.h"

namespace cudnn_frontend::inline v1::detail {

Attributes::Attributes(std::shared_ptr<nodes::Draft> draft) : draft_(std::move(draft)) {}
Attributes::Attributes(Attributes const& other)
    : name(other.name),
      compute_data_type(other.compute_data_type),
      draft_(std::make_shared<nodes::Draft>(*other.draft_)) {}
Attributes& Attributes::operator=(Attributes const& other) {
    if (this == &other) return *this;
    name = other.name;
    compute_data_type = other.compute_data_type;
    *draft_ = *other.draft_;
    return *this;
}
Attributes::~Attributes() = default;

}  // namespace cudnn_frontend::inline v1::detail
