// A fake backend: it records every call, can make any of them fail, and detects descriptors that are not destroyed, or
// destroyed twice. It answers queries like a library with two engines, also from many threads.
#pragma once

#include "cudnn/library/api.h"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace sdpa_test {

class FakeCudnn {
   public:
    // There is one at a time: the functions of the table find it through a global.
    FakeCudnn();
    ~FakeCudnn();
    FakeCudnn(FakeCudnn const&) = delete;
    FakeCudnn& operator=(FakeCudnn const&) = delete;

    cudnn_frontend::cudnn::Api const& api() const { return api_; }

    // Makes the call of this number, counted from 0, fail.
    void fail_at(int call) { failing_call_ = call; }
    int calls() const { return calls_; }
    std::size_t alive() const { return descriptors_.size(); }
    std::vector<std::string> const& faults() const { return faults_; }  // of the caller
    // Sets the backend's message about its last failure.
    void set_last_error(std::string text) { last_error_ = std::move(text); }
    std::int64_t workspace_bytes = 128;  // of plans
    bool has_one_engine = false;         // every query names it; else each query names two of its own
    // The answers of engine configs.
    std::int64_t config_workspace_bytes = 0;
    std::int32_t shared_memory_bytes = 0;
    cudnnBackendKnobType_t knob = CUDNN_KNOB_TYPE_TILE_SIZE;  // the only one
    std::int64_t knob_value = 7;
    std::vector<cudnnBackendBehaviorNote_t> behavior_notes;
    std::vector<cudnnBackendNumericalNote_t> numerical_notes;
    std::size_t version = 91900;
    std::string device = R"({"deviceName":"Fake","deviceVer":900,"cudaDeviceId":0})";
    std::string kernels = R"({"kernels": ["a\\b"], "count": 1})";  // the content of each kernel cache
    std::vector<std::string> given_kernels;                        // to kernel caches, as text
    // The thread that builds a plan calls it, with no lock held.
    std::function<void()> while_building = [] {};

    // The finalized descriptors in order, each with its attributes: "TENSOR 3: DIMENSIONS 2 4 6 8, ...". Tensors go by
    // uid, other descriptors by the order in which they were made.
    std::string const& log() const { return log_; }

   private:
    struct Made {
        cudnnBackendDescriptorType_t type;
        std::string name;
        std::string attributes;
        bool is_finalized = false;
    };
    friend struct FakeCalls;

    bool fails();
    std::string value_text(cudnnBackendAttributeType_t type, std::int64_t count, void const* values) const;
    int answer(Made const& made, cudnnBackendAttributeName_t attribute, std::int64_t capacity, std::int64_t* count,
               void* values);

    cudnn_frontend::cudnn::Api api_;
    std::map<void*, Made> descriptors_;
    std::intptr_t last_descriptor_ = 0;
    int calls_ = 0, failing_call_ = -1;
    std::mutex mutex_;
    std::string last_error_, log_;
    std::vector<std::string> faults_;
};

}  // namespace sdpa_test
