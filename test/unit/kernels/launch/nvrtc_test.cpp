// Finding NVRTC. A program of its own, since NVRTC stays loaded where a test has compiled a kernel.
#include "cuda/nvrtc.h"

#include "kernels/joints/joint_kernels.h"
#include "support/catch.h"
#include "support/system/own_process.h"

#include <cudnn_frontend/runtime.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace kernels = cudnn_frontend::kernels;
using cudnn_frontend::DataType_t;
using cudnn_frontend::error_code_t;

namespace {

kernels::SumProblem const kSum{{DataType_t::HALF, {2, 8}, {8, 1}}, {DataType_t::HALF, {8}, {1}}};

}  // namespace

TEST_CASE("without NVRTC nothing is offered, and the error says where it was looked for and what to install") {
    std::string const chosen = in_own_process([] {
        setenv("SDPA_GRAPH_NVRTC_PATH", "/nowhere/libnvrtc.so.13", 1);
        auto const error = kernels::check_compiler();
        auto const of_kernel = kernels::compile_sum(kSum, {90, 132}).error();
        bool const is_same = error.err_msg == of_kernel.err_msg && error.code == error_code_t::NVRTC_COMPILATION_FAILED;
        return error.err_msg + (is_same ? "" : "; other errors");
    });
    CHECK(chosen ==
          "NVRTC, which compiles CUDA kernels, was not found: tried /nowhere/libnvrtc.so.13 (not there); "
          "SDPA_GRAPH_NVRTC_PATH chose this library: correct it, or unset it to search the usual places");

    auto const missing =
        cudnn_frontend::cuda::open_nvrtc({false, {{"/nowhere/a.so", ""}, {"/nowhere/b.so", ""}}, ""}).error();
    CHECK(
        missing.err_msg ==
        "NVRTC, which compiles CUDA kernels, was not found: tried /nowhere/a.so (not there), /nowhere/b.so (not "
        "there); install it (pip install nvidia-cuda-nvrtc, nvidia-cuda-nvrtc-cu12 for CUDA 12, or the CUDA toolkit), "
        "or set SDPA_GRAPH_NVRTC_PATH to its folder");
    std::string const other = in_own_process([] {
        return cudnn_frontend::cuda::open_nvrtc({false, {{"libm.so.6", ""}}, ""}).error().err_msg;
    });
    CHECK(other.find("libm.so.6 lacks nvrtcGetErrorString, nvrtcVersion, ") != other.npos);
}

TEST_CASE("the usual places for NVRTC are searched in order") {
    std::string const files = in_own_process([] {
        setenv("CUDA_HOME", "/chosen/cuda", 1);
        std::string text;
        for (auto const& file : cudnn_frontend::cuda::nvrtc_library_search().files) text += file.path + "\n";
        return text;
    });
    INFO(files);
    auto const place = [&](char const* file) { return files.find(file); };
    CHECK(place("/chosen/cuda/lib/libnvrtc.so.13\n") < place("\nlibnvrtc.so.13\n"));
    CHECK(place("\nlibnvrtc.so.13\n") < place("/chosen/cuda/lib/libnvrtc.so.12\n"));
    CHECK(place("/chosen/cuda/lib/libnvrtc.so.12\n") < place("\nlibnvrtc.so.12\n"));
    CHECK(place("\nlibnvrtc.so.12\n") != files.npos);
}

TEST_CASE("NVRTC in the packages that the program named comes first, of either CUDA") {
    namespace fs = std::filesystem;
    fs::path const packages = fs::temp_directory_path() / "sdpa_graph_nvrtc_packages";
    fs::create_directories(packages / "nvidia/cuda_nvrtc/lib");
    std::string const older = packages / "nvidia/cuda_nvrtc/lib/libnvrtc.so.12";
    std::ofstream(older) << "";
    std::string const first = in_own_process([&] {
        static_cast<void>(cudnn_frontend::runtime::set_package_folders({packages}));
        auto const plan = cudnn_frontend::cuda::nvrtc_library_search();
        return plan.files.front().path + ", " + plan.files.front().why;
    });
    CHECK(first == older + ", from the packages in " + packages.string() + ", which the program named");
    std::string const chosen = in_own_process([&] {
        static_cast<void>(cudnn_frontend::runtime::set_package_folders({packages}));
        setenv("SDPA_GRAPH_NVRTC_PATH", "/chosen/libnvrtc.so.13", 1);
        return cudnn_frontend::cuda::nvrtc_library_search().files.front().path;
    });
    CHECK(chosen == "/chosen/libnvrtc.so.13");
    fs::remove_all(packages);
}

TEST_CASE("a report says which NVRTC is used and why, or why there is none") {
    std::string const none = in_own_process([] {
        setenv("SDPA_GRAPH_NVRTC_PATH", "/nowhere/libnvrtc.so.13", 1);
        return cudnn_frontend::cuda::describe_nvrtc();
    });
    CHECK(none.starts_with("NVRTC, which compiles CUDA kernels, was not found: tried /nowhere/libnvrtc.so.13"));
    std::string const found = in_own_process([] {
        auto const opened = cudnn_frontend::cuda::nvrtc();
        if (opened.is_bad()) return std::string("none");
        auto const& nvrtc = *opened.value();
        auto const text = cudnn_frontend::cuda::describe_nvrtc();
        bool const is_whole = !nvrtc.why.empty() && text.ends_with(": " + nvrtc.path + ", " + nvrtc.why);
        return is_whole ? std::string("whole") : text;
    });
    CHECK((found == "whole" || found == "none"));
}
