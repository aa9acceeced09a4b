#include "cuda/driver.h"
#include "cuda/cuda_graph.h"

#include "support/catch.h"
#include "support/system/own_process.h"

using namespace cudnn_frontend;

namespace {

std::string const kFakes = SDPA_TEST_FAKES;

}  // namespace

TEST_CASE("a driver's errors are told by name and explanation") {
    CHECK(in_own_process([] {
              auto const driver = cuda::open_driver(kFakes + "/good/libcuda.so.1");
              if (driver.is_bad()) return driver.error().err_msg;
              auto const error = cuda::driver_error(driver.value(), CUDA_ERROR_OUT_OF_MEMORY, "allocating memory");
              auto const unknown = cuda::driver_error(driver.value(), CUDA_ERROR_UNKNOWN, "allocating memory");
              auto const none = cuda::driver_error(driver.value(), CUDA_SUCCESS, "allocating memory");
              bool const has_code = error.code == error_code_t::CUDA_API_FAILED && none.is_good();
              return error.err_msg + "; " + unknown.err_msg + (has_code ? "" : "; wrong code");
          }) ==
          "allocating memory failed: CUDA_ERROR_OUT_OF_MEMORY: out of memory; "
          "allocating memory failed: CUDA error 999");
}

TEST_CASE("a driver that lacks functions is refused by their names") {
    std::string const file = kFakes + "/lacking/libcuda.so.1";
    CHECK(in_own_process([&] { return cuda::open_driver(file).error().err_msg; }) ==
          "the CUDA driver " + file + " lacks cuStreamBeginCapture_v2, cuStreamEndCapture; update it");
}

TEST_CASE("without a driver the error says so") {
    std::string const file = kFakes + "/empty/libcuda.so.1";
    auto const error = cuda::open_driver(file).error();
    CHECK(error.code == error_code_t::INVALID_CUDA_DEVICE);
    CHECK(error.err_msg == "there is no CUDA driver (" + file +
                               ": cannot open shared object file: No such file or directory); install NVIDIA's driver");
}

TEST_CASE("work that needs a GPU fails with an error where there is none") {
    std::string const text = in_own_process([]() -> std::string {
        if (cuda::check_driver().is_good()) return "";
        std::string failed;
        failed += cuda::use_device(0).is_bad() ? "device " : "";
        failed += cuda::allocate(16).is_bad() ? "memory " : "";
        failed += cuda::make_cuda_graph().is_bad() ? "graph " : "";
        failed += cuda::node_count(nullptr).is_bad() ? "count " : "";
        failed += cuda::node_after(nullptr, nullptr).is_bad() ? "node " : "";
        failed += cuda::add_child(nullptr, {}, nullptr).is_bad() ? "add " : "";
        failed += cuda::add_empty_node(nullptr).is_bad() ? "empty " : "";
        failed += cuda::type_of(nullptr).is_bad() ? "type " : "";
        failed += cuda::child_of(nullptr).is_bad() ? "child " : "";
        failed += cuda::add_clearing(nullptr, {}, {}).is_bad() ? "clearing " : "";
        failed += cuda::update_clearing(nullptr, {}).is_bad() ? "update " : "";
        failed += cuda::clear(nullptr, {}).is_bad() ? "clear " : "";
        std::byte place{};
        failed += cuda::download({&place, 1}, &place).is_bad() ? "copy " : "";
        failed += cuda::memory_bus_width(0).is_bad() ? "bus " : "";
        failed += cuda::wait_for(nullptr).is_bad() ? "wait " : "";
        failed += cuda::is_capturing(nullptr).is_bad() ? "capture " : "";
        failed += cuda::StreamClock::make(nullptr).is_bad() ? "clock" : "";
        return failed;
    });
    CHECK((text.empty() ||
           text == "device memory graph count node add empty type child clearing update clear copy bus wait capture "
                   "clock"));
}
