#include "cudnn/library/library.h"

#include "cuda/shared_object.h"
#include "cudnn/library/library_parts.h"

#include "support/catch.h"
#include "support/system/own_process.h"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>
#include <vector>

using namespace cudnn_frontend;

namespace {

std::string const kFakes = SDPA_TEST_FAKES;
std::string const kAdvice =
    "; install cuDNN 9.10.0 or newer (pip install nvidia-cudnn-cu13, nvidia-cudnn-cu12 for CUDA 12, or the packages of "
    "NVIDIA's CUDA repository), or set SDPA_GRAPH_CUDNN_PATH to its folder";

std::string fake(std::string const& folder) { return kFakes + "/" + folder + "/libcudnn.so.9"; }

cudnn::Library open_files(std::vector<std::string> const& files) {
    cuda::LibrarySearch plan{false, {}, ""};
    for (std::string const& file : files) plan.add({file, ""});
    return cudnn::open_library(plan);
}

std::string content_of(std::string const& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write(std::string const& path, std::string const& content) { std::ofstream(path, std::ios::binary) << content; }

// The error, or the report if there is none.
std::string answer(cudnn::Library const& library) {
    bool const is_consistent =
        (library.api == nullptr) == library.error.is_bad() && (library.api == nullptr) == library.report.path.empty();
    if (!is_consistent) return "the table, the error and the path disagree";
    return library.api == nullptr ? library.error.err_msg : library.report.to_text();
}

std::string answer_for(std::vector<std::string> const& files) {
    return in_own_process([&] {
        alarm(60);  // ends a process that hangs
        return answer(open_files(files));
    });
}

}  // namespace

TEST_CASE("a library that has all it needs serves") {
    CHECK(answer_for({fake("good")}) == "cuDNN 9.99.0: " + fake("good") + "\n");
}

TEST_CASE("a library that lacks a function is refused by the function's name") {
    CHECK(answer_for({fake("lacking")}) ==
          "no usable cuDNN library: " + fake("lacking") +
              ": lacks cudnnBackendPopulateCudaGraph, which cuDNN 9.10.0 and newer have" + kAdvice);
}

TEST_CASE("a library that is too old is refused with both versions") {
    CHECK(answer_for({fake("old")}) ==
          "no usable cuDNN library: " + fake("old") + ": its version 9.8.0 is older than 9.10.0" + kAdvice);
}

TEST_CASE("a file that is no library, and a folder without one, are passed over and named") {
    CHECK(answer_for({fake("text"), fake("empty")}) == "no usable cuDNN library: tried " + fake("text") +
                                                           " (invalid ELF header), " + fake("empty") + " (not there)" +
                                                           kAdvice);
    CHECK(answer_for({fake("empty"), fake("text"), fake("good"), fake("old")}) ==
          "cuDNN 9.99.0: " + fake("good") + "\n  tried " + fake("text") +
              ": invalid ELF header\n  not there: " + fake("empty") + "\n");
}

TEST_CASE("a named pipe and a library that is cut off are refused before the loader hangs or dies of them") {
    std::filesystem::path const folder = std::filesystem::temp_directory_path() / "sdpa_graph_cut";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directory(folder);
    std::string const pipe = folder / "pipe.so", cut = folder / "libcudnn.so.9";
    REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
    std::string const whole = content_of(fake("good"));
    CHECK(answer_for({pipe, folder}) == "no usable cuDNN library: tried " + pipe +
                                            " (it is a named pipe, not a file), " + folder.string() +
                                            " (it is a folder, not a file)" + kAdvice);
    for (std::size_t const size : {std::size_t{100}, std::size_t{4096}, whole.size() / 2}) {
        write(cut, whole.substr(0, size));
        CHECK(answer_for({cut}) == "no usable cuDNN library: tried " + cut + " (it is cut off after " +
                                       std::to_string(size) + " bytes; install it again)" + kAdvice);
    }
    // Parts are opened by cuDNN itself, some of them much later.
    write(cut, whole);
    std::string const part = folder / "libcudnn_heuristic.so.9";
    write(part, whole.substr(0, 4096));
    CHECK(answer_for({cut}) == "no usable cuDNN library: " + cut + ": its part " + part +
                                   " cannot be opened: it is cut off after 4096 bytes; install it again" + kAdvice);
    std::filesystem::remove_all(folder);
}

TEST_CASE("engines that cannot open cuBLASLt are told of before they end the program") {
    auto const check = [](char const* folder) {
        return in_own_process([&] { return cudnn::open_cublas(open_files({fake(folder)}).report).err_msg; });
    };
    CHECK(check("cublas").empty());
    CHECK(check("bare").empty());  // without engines nothing needs it
    std::string const needed = "cuBLASLt, libcublasLt.so.12, cannot be opened (" + kFakes +
                               "/broken_cublas/libcublasLt.so.12: invalid ELF header), without which cuDNN's engines "
                               "end the program; pip install nvidia-cublas-cu12, or the package libcublas of NVIDIA's "
                               "CUDA repository";
    CHECK(check("broken_cublas") == "cuDNN " + fake("broken_cublas") + " cannot plan: " + needed);
    std::string const report =
        in_own_process([] { return cudnn::full_report(open_files({fake("broken_cublas")})).to_text(); });
    INFO(report);
    CHECK(report.find("  " + needed + "\n") != report.npos);
}

TEST_CASE("with no place to look the error says so") {
    CHECK(answer_for({}) == "no usable cuDNN library: there was no place to look" + kAdvice);
}

TEST_CASE("a library whose graph part cannot be opened is refused before it ends the program") {
    CHECK(answer_for({fake("broken_part")}) ==
          "no usable cuDNN library: " + fake("broken_part") +
              ": its part libcudnn_graph.so.9 cannot be opened: invalid ELF header" + kAdvice);
}

TEST_CASE("a library and a graph part of different versions are refused") {
    CHECK(
        answer_for({fake("mixed")}) ==
        "no usable cuDNN library: " + fake("mixed") + ": it is 9.99.0 and its part " + kFakes +
            "/mixed/libcudnn_graph.so.9 is 9.98.0, which do not belong together; remove the copy of cuDNN that is not "
            "wanted" +
            kAdvice);
}

TEST_CASE("missing parts are a note") {
    CHECK(answer_for({fake("bare")}) ==
          "cuDNN 9.99.0: " + fake("bare") + "\n  not in " + kFakes +
              "/bare, where libcudnn is: libcudnn_ops.so.9, libcudnn_heuristic.so.9, "
              "libcudnn_engines_precompiled.so.9, libcudnn_engines_runtime_compiled.so.9; install all of cuDNN from "
              "one package, such as nvidia-cudnn-cu13 of pip\n");
}

TEST_CASE("a part from another folder is a note") {
    std::string const part = kFakes + "/other_good/libcudnn_graph.so.9";
    CHECK(in_own_process([&] {
              cuda::open_object(part);
              return answer(open_files({fake("good")}));
          }) == "cuDNN 9.99.0: " + fake("good") + "\n  " + part + ": loaded from outside " + kFakes +
                    "/good, where libcudnn is; parts of different versions do not work together\n");
}

TEST_CASE("a copy that the process has loaded comes first") {
    CHECK(in_own_process([] {
              cuda::open_object(fake("good"));
              return answer(cudnn::open_library({true, {{fake("other_good"), ""}}, ""}));
          }) == "cuDNN 9.99.0: " + fake("good") + ", loaded by the program\n");
    CHECK(in_own_process([] {
              cuda::open_object(fake("old"));
              return answer(cudnn::open_library({true, {{fake("good"), ""}}, ""}));
          }) == "no usable cuDNN library: " + fake("old") +
                    ": its version 9.8.0 is older than 9.10.0; the program loads this library itself: give it "
                    "cuDNN 9.10.0 or newer");
}

TEST_CASE("the report says why a library was chosen") {
    CHECK(in_own_process([] {
              return answer(cudnn::open_library({false, {{fake("good"), "from the packages in /x"}}, ""}));
          }) == "cuDNN 9.99.0: " + fake("good") + ", from the packages in /x\n");
}

TEST_CASE("two copies in one process are refused with both paths") {
    CHECK(in_own_process([] {
              cuda::open_object(fake("good"));
              return answer(open_files({fake("other_good")}));
          }) == "no usable cuDNN library: " + fake("other_good") + ": the process has loaded two copies of cuDNN, " +
                    fake("good") + " and " + fake("other_good") +
                    ", and a handle made by one must not reach the other; keep one of them" + kAdvice);
}

TEST_CASE("a chosen library that does not serve is refused with the name of the variable") {
    CHECK(in_own_process([] {
              setenv("SDPA_GRAPH_CUDNN_PATH", (kFakes + "/empty").c_str(), 1);
              return answer(cudnn::library());
          }) == "no usable cuDNN library: tried " + fake("empty") +
                    " (not there); SDPA_GRAPH_CUDNN_PATH chose this library: correct it, or unset it to search the "
                    "usual places");
}

TEST_CASE("many threads get the same library") {
    CHECK(in_own_process([] {
              setenv("SDPA_GRAPH_CUDNN_PATH", (kFakes + "/good").c_str(), 1);
              std::vector<cudnn::Library const*> answers(8);
              std::vector<std::thread> threads;
              for (auto& found : answers) threads.emplace_back([&found] { found = &cudnn::library(); });
              for (auto& thread : threads) thread.join();
              bool const is_one = std::set(answers.begin(), answers.end()).size() == 1;
              return (is_one ? "one " : "several ") + answer(*answers[0]);
          }) == "one cuDNN 9.99.0: " + fake("good") + ", chosen by SDPA_GRAPH_CUDNN_PATH\n");
}

TEST_CASE("the full report tells of NVRTC for the CUDA that cuDNN was built for, and of the driver") {
    std::string const text = in_own_process([] { return cudnn::full_report(open_files({fake("good")})).to_text(); });
    INFO(text);
    CHECK(text.find("  libnvrtc.so.12: ") != text.npos);
    CHECK(text.find("  libcuda.so.1: ") != text.npos);
}

TEST_CASE("the installed library serves, where there is one") {
    std::string const text = in_own_process([]() -> std::string {
        auto const& library = cudnn::library();
        if (library.api == nullptr) return "none: " + library.error.err_msg;
        bool const is_new = library.report.version >= 91000 && library.report.version == library.api->get_version();
        return std::string(is_new ? "serves: " : "does not serve: ") + library.report.to_text();
    });
    INFO(text);
    CHECK((text.starts_with("serves: cuDNN 9.") || text.starts_with("none: no usable cuDNN library: ")));
}
