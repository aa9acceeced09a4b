// Counts and times the library's calls of cuDNN and of the driver.
#pragma once

#include "cuda/driver_table.h"
#include "cudnn/library/library.h"

#include <chrono>

// Wraps the library's tables of functions from the first use on, for one thread.
class Meter {
   public:
    static Meter& installed() {
        static Meter* const meter = new Meter();
        return *meter;
    }
    void clear() { launches_ = 0, launch_microseconds_ = engine_microseconds_ = 0; }
    int launches() const { return launches_; }
    double launch_microseconds() const { return launch_microseconds_; }
    // The time of cuDNN's execution, or of the replay in its place.
    double engine_microseconds() const { return engine_microseconds_; }
    // Whether cuDNN executed an engine since forget_engine(): replays are not executed by cuDNN.
    bool has_engine() const { return plan_ != nullptr; }
    void forget_engine() { plan_ = nullptr; }
    // Runs the last engine again, on its own.
    bool execute_again() const { return execute_(handle_, plan_, pack_) == CUDNN_STATUS_SUCCESS; }

   private:
    using clock = std::chrono::steady_clock;

    static double since(clock::time_point begin) {
        return std::chrono::duration<double, std::micro>(clock::now() - begin).count();
    }

    Meter() {
        auto& api = const_cast<cudnn_frontend::cudnn::Api&>(*cudnn_frontend::cudnn::library().api);
        execute_ = api.execute;
        api.execute = [](cudnnHandle_t handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack) {
            Meter& meter = installed();
            meter.handle_ = handle, meter.plan_ = plan, meter.pack_ = pack;
            auto const begin = clock::now();
            cudnnStatus_t const status = meter.execute_(handle, plan, pack);
            meter.engine_microseconds_ += since(begin);
            return status;
        };
        auto& driver = const_cast<cudnn_frontend::cuda::Driver&>(*cudnn_frontend::cuda::driver().value());
        launch_ = driver.launch_kernel;
        driver.launch_kernel = [](auto... arguments) {
            Meter& meter = installed();
            auto const begin = clock::now();
            CUresult const result = meter.launch_(arguments...);
            meter.launch_microseconds_ += since(begin);
            ++meter.launches_;
            return result;
        };
        launch_graph_ = driver.launch_graph;
        driver.launch_graph = [](CUgraphExec instance, CUstream stream) {
            Meter& meter = installed();
            auto const begin = clock::now();
            CUresult const result = meter.launch_graph_(instance, stream);
            meter.engine_microseconds_ += since(begin);
            return result;
        };
    }

    decltype(cudnn_frontend::cudnn::Api::execute) execute_;
    decltype(cudnn_frontend::cuda::Driver::launch_kernel) launch_;
    decltype(cudnn_frontend::cuda::Driver::launch_graph) launch_graph_;
    cudnnHandle_t handle_ = nullptr;
    cudnnBackendDescriptor_t plan_ = nullptr, pack_ = nullptr;
    int launches_ = 0;
    double launch_microseconds_ = 0, engine_microseconds_ = 0;
};
