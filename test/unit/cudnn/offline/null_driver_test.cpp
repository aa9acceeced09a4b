#include "cudnn/offline/null_driver.h"
#include "cudnn/library/device.h"
#include "cudnn/library/library.h"
#include "cudnn/offline/devices.h"
#include "support/skip.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <thread>
#include <vector>

using namespace cudnn_frontend;

namespace {

template <class Function>
Function* driver_function(char const* name) {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    return driver == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(driver, name));
}

std::string output_of(std::string const& arguments) {
    std::string const command = std::string(SDPA_NULL_DRIVER_PROCESS) + " " + arguments;
    FILE* const process = popen(command.c_str(), "r");
    REQUIRE(process != nullptr);
    std::string output;
    for (int c = fgetc(process); c != EOF; c = fgetc(process)) output += static_cast<char>(c);
    CHECK(pclose(process) == 0);
    return output;
}

std::string make_folder() {
    std::string folder = (std::filesystem::temp_directory_path() / "offline_test_XXXXXX").string();
    REQUIRE(mkdtemp(folder.data()) != nullptr);
    return folder;
}

// cuDNN with the null driver, or null if cuDNN is not installed.
cudnn::Api const* offline_cudnn() {
    auto const loaded = offline::load_null_driver();
    INFO(loaded.err_msg);
    REQUIRE(loaded.is_good());
    cudnn::Library const& library = cudnn::library();
    if (library.api == nullptr) sdpa_test::skip(library.error.err_msg);
    return library.api;
}

// The text of a JSON object without one member. No member's text contains the pattern by accident.
std::string without_member(std::string json, std::string const& name) {
    auto const begin = json.find("\"" + name + "\":");
    auto end = json.find(",\"", begin);
    end = end == json.npos ? json.size() - 1 : end + 1;
    json.erase(begin, end - begin);
    if (auto const comma = json.rfind(",}"); comma != json.npos) json.erase(comma, 1);
    return json;
}

std::vector<std::string> member_names(std::string const& json) {
    std::vector<std::string> names;
    for (auto end = json.find("\":"); end != json.npos; end = json.find("\":", end + 1)) {
        auto const begin = json.rfind('"', end - 1) + 1;
        names.push_back(json.substr(begin, end - begin));
    }
    return names;
}

}  // namespace

TEST_CASE("the null driver is small, and is the libcuda.so.1 of the process") {
    CHECK(offline::null_driver_bytes().size() < 32 * 1024);
    CHECK(offline::load_null_driver().is_good());
    CHECK(offline::null_driver_is_loaded());
    CHECK(offline::load_null_driver().is_good());
    CHECK(dlopen("libcuda.so.1", RTLD_NOW) == dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD));
    CHECK(driver_function<int>("sdpa_graph_null_driver") != nullptr);
}

TEST_CASE("the null driver has no device, and loads modules") {
    REQUIRE(offline::load_null_driver().is_good());
    CHECK(driver_function<int(unsigned)>("cuInit")(0) == 100);
    int count = -1;
    CHECK(driver_function<int(int*)>("cuDeviceGetCount")(&count) == 100);
    CHECK(count == 0);
    void* module = nullptr;
    CHECK(driver_function<int(void**, void const*)>("cuModuleLoadData")(&module, "") == 0);
    CHECK(module != nullptr);
    void const* table = &count;
    CHECK(driver_function<int(void const**, void const*)>("cuGetExportTable")(&table, nullptr) != 0);
    CHECK(table == nullptr);
}

TEST_CASE("the null driver gives its functions by name, and no others") {
    REQUIRE(offline::load_null_driver().is_good());
    auto* const find = driver_function<int(char const*, void**, int, unsigned long long, int*)>("cuGetProcAddress_v2");
    REQUIRE(find != nullptr);
    for (char const* name : {"cuInit", "cuDeviceGetCount", "cuLibraryLoadData", "cuModuleUnload", "cuLaunchKernel"}) {
        INFO(name);
        void* function = nullptr;
        int status = -1;
        CHECK(find(name, &function, 13000, 0, &status) == 0);
        CHECK(status == 0);
        CHECK(function == reinterpret_cast<void*>(driver_function<int()>(name)));
    }
    for (char const* name : {"cuNoSuchFunction", "cuInitialize", "cu", ""}) {
        INFO(name);
        void* function = &function;
        int status = -1;
        CHECK(find(name, &function, 13000, 0, &status) == 500);
        CHECK(status == 1);
        CHECK(function == nullptr);
    }
}

TEST_CASE("the null driver is loaded once by many threads") {
    std::vector<error_object> answers(8);
    std::vector<std::thread> threads;
    for (auto& answer : answers) threads.emplace_back([&answer] { answer = offline::load_null_driver(); });
    for (auto& thread : threads) thread.join();
    for (auto const& answer : answers) CHECK(answer.is_good());
    CHECK(offline::null_driver_is_loaded());
}

TEST_CASE("the null driver is not there before it is loaded") {
    CHECK(output_of("plain") ==
          "driver: none, null_driver_is_loaded: 0\n"
          "load: OK\n"
          "driver: null, null_driver_is_loaded: 1\n");
}

TEST_CASE("the null driver is refused beside another driver") {
    std::string const output = output_of(std::string("beside ") + SDPA_DRIVER_LOOKALIKE);
    CHECK(output == std::string("driver: other, null_driver_is_loaded: 0\n"
                                "load: INVALID_CUDA_DEVICE: the process has loaded a CUDA driver, ") +
                        SDPA_DRIVER_LOOKALIKE +
                        ", and the stand-in driver of offline planning cannot work with another one; plan offline in a "
                        "process of its own, before any CUDA call, or plan for the GPU itself with "
                        "Target::cuda(handle)\n"
                        "driver: other, null_driver_is_loaded: 0\n");
}

TEST_CASE("the null driver is loaded from a file where memory files are refused") {
    std::string const folder = make_folder();
    CHECK(output_of("without_memory_files " + folder) ==
          "driver: none, null_driver_is_loaded: 0\n"
          "load: OK\n"
          "driver: null, null_driver_is_loaded: 1\n"
          "files left: 0\n");
    std::filesystem::remove(folder);
}

TEST_CASE("the null driver says why it cannot be loaded") {
    std::string const output = output_of("without_memory_files /no/such/folder");
    INFO(output);
    CHECK(output.find("load: CUDA_API_FAILED: the stand-in CUDA driver of offline planning could not be loaded: "
                      "memfd_create(): Function not implemented; from a temporary file: ") != output.npos);
    CHECK(output.find("driver: none, null_driver_is_loaded: 0\n", 10) != output.npos);
}

TEST_CASE("cuDNN takes every known device and tells it as it was told") {
    cudnn::Api const* const api = offline_cudnn();
    if (api == nullptr) return;
    for (auto const& known : offline::known_devices()) {
        INFO(known.name);
        auto const device = cudnn::Device::from_json(*api, known.properties);
        INFO(device.error().err_msg);
        REQUIRE(device.is_good());
        CHECK(device.value()->json() == known.properties);
        CHECK(device.value()->sm() == known.sm);
    }
}

TEST_CASE("cuDNN refuses a device that lacks a property") {
    cudnn::Api const* const api = offline_cudnn();
    if (api == nullptr) return;
    auto const known = offline::find_device("h200");
    REQUIRE(known.is_good());
    auto const names = member_names(known.value().properties);
    CHECK(names.size() == 24);
    for (std::string const& name : names) {
        if (name == "memoryBusWidth") continue;  // 9.28 requires it, older ones ignore it
        INFO(name);
        auto const device = cudnn::Device::from_json(*api, without_member(known.value().properties, name));
        REQUIRE(device.is_bad());
        INFO(device.error().err_msg);
        CHECK(device.error().err_msg.find("CUDNN_STATUS_BAD_PARAM") != std::string::npos);
    }
}
