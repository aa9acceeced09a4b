// A libcudnn.so.9 that forwards each call to a table of the test, so that whole graphs can be planned with the fake
// backend.
#include "cudnn/library/api.h"

#include <cudnn.h>

using cudnn_frontend::cudnn::Api;

extern "C" {

Api const* sdpa_test_cudnn = nullptr;  // until it is set, only the version is available

std::size_t cudnnGetVersion() {
    return sdpa_test_cudnn == nullptr ? SDPA_TEST_VERSION : sdpa_test_cudnn->get_version();
}

char const* cudnnGetErrorString(cudnnStatus_t status) { return sdpa_test_cudnn->get_error_string(status); }

void cudnnGetLastErrorString(char* text, std::size_t size) { sdpa_test_cudnn->get_last_error_string(text, size); }

cudnnStatus_t cudnnCreate(cudnnHandle_t*) { return CUDNN_STATUS_NOT_SUPPORTED; }
cudnnStatus_t cudnnDestroy(cudnnHandle_t) { return CUDNN_STATUS_NOT_SUPPORTED; }
cudnnStatus_t cudnnSetStream(cudnnHandle_t, cudaStream_t) { return CUDNN_STATUS_NOT_SUPPORTED; }
cudnnStatus_t cudnnGetStream(cudnnHandle_t, cudaStream_t*) { return CUDNN_STATUS_NOT_SUPPORTED; }

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* made) {
    return sdpa_test_cudnn->create_descriptor(type, made);
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
    return sdpa_test_cudnn->destroy_descriptor(descriptor);
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t attribute,
                                       cudnnBackendAttributeType_t type, std::int64_t count, void const* values) {
    return sdpa_test_cudnn->set_attribute(descriptor, attribute, type, count, values);
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const descriptor, cudnnBackendAttributeName_t attribute,
                                       cudnnBackendAttributeType_t type, std::int64_t capacity, std::int64_t* count,
                                       void* values) {
    return sdpa_test_cudnn->get_attribute(descriptor, attribute, type, capacity, count, values);
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
    return sdpa_test_cudnn->finalize(descriptor);
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack) {
    return sdpa_test_cudnn->execute(handle, plan, pack);
}

cudnnStatus_t cudnnBackendPopulateCudaGraph(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                            cudnnBackendDescriptor_t pack, cudaGraph_t graph) {
    return sdpa_test_cudnn->populate_cuda_graph(handle, plan, pack, graph);
}

cudnnStatus_t cudnnBackendUpdateCudaGraph(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                          cudnnBackendDescriptor_t pack, cudaGraph_t graph) {
    return sdpa_test_cudnn->update_cuda_graph(handle, plan, pack, graph);
}

}  // extern "C"
