#include <cudnn_frontend/variant_pack.h>

namespace cudnn_frontend::inline v1 {

void Variant_pack_sink::add(std::shared_ptr<graph::Tensor_attributes> const& tensor, void* pointer) {
    if (!tensor) {
        add_null_tensor();
    } else if (tensor->has_uid()) {
        add(tensor->get_uid(), pointer);
    }
}

}  // namespace cudnn_frontend::inline v1
