#include <cudnn_frontend/attributes.h>

#include "api/attributes/attributes_access.h"

#include <exception>
#include <new>
#include <utility>

namespace cudnn_frontend::detail {

static nodes::Draft* copy_of(nodes::Draft const* draft) noexcept {
    try {
        return draft == nullptr ? nullptr : new nodes::Draft(*draft);
    } catch (std::exception const&) {
        return nullptr;
    }
}

Attributes::Attributes(nodes::Draft* draft) noexcept : draft_(draft) {}
Attributes::Attributes(Attributes const& other) noexcept
    : compute_data_type(other.compute_data_type), draft_(copy_of(other.draft_)) {
    rename(other.name);
}
Attributes& Attributes::operator=(Attributes const& other) noexcept {
    Attributes copy(other);
    std::swap(name, copy.name);
    std::swap(compute_data_type, copy.compute_data_type);
    std::swap(draft_, copy.draft_);
    return *this;
}
Attributes::~Attributes() { delete draft_; }

void Attributes::rename(std::string const& value) noexcept {
    try {
        name = value;
    } catch (std::exception const&) {
        delete std::exchange(draft_, nullptr);
    }
}

nodes::Draft Attributes_access::take(Attributes const& attributes) {
    if (attributes.draft_ == nullptr) throw std::bad_alloc();
    nodes::Draft draft = *attributes.draft_;
    draft.name = attributes.name;
    draft.compute_data_type = attributes.compute_data_type;
    return draft;
}

}  // namespace cudnn_frontend::detail
