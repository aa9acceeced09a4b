#include "support/kernels/kernel_case.h"

#include "core/data_type.h"
#include "core/names.h"

namespace sdpa_test {

namespace core = cudnn_frontend::core;

double KernelTensor::get(std::int64_t offset) const { return core::load(operand.type, data(), offset); }
void KernelTensor::set(std::int64_t offset, double number) { core::store(operand.type, data(), offset, number); }

std::string KernelCase::text() const {
    std::string text = name;
    for (KernelTensor const& tensor : tensors) {
        text += "; " + tensor.name + " " + cudnn_frontend::to_string(tensor.operand.type) + " " +
                core::to_string(tensor.operand.dims) + " by " + core::to_string(tensor.operand.strides);
    }
    return text;
}

}  // namespace sdpa_test
