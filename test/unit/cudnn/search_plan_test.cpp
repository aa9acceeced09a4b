#include "cudnn/library/library.h"

#include "own_process.h"
#include "support/catch.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace cudnn_frontend;
namespace fs = std::filesystem;

namespace {

// A folder that is gone after the test.
struct TemporaryFolder {
    TemporaryFolder() {
        std::string name = (fs::temp_directory_path() / "sdpa_search_XXXXXX").string();
        path = mkdtemp(name.data());
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
    std::string add(std::string const& file) const {
        fs::create_directories(fs::path(path + "/" + file).parent_path());
        std::ofstream(path + "/" + file) << "";
        return path + "/" + file;
    }

    std::string path;
};

}  // namespace

TEST_CASE("a chosen file or folder is the only place") {
    TemporaryFolder const folder;
    std::string const file = folder.add("libcudnn.so.9");
    for (std::string const& chosen : {file, folder.path}) {
        auto const plan = cudnn::make_search_plan({{chosen, "SDPA_GRAPH_CUDNN_PATH"}, {"/a"}, {"/b"}, {"/c"}});
        CHECK(plan.files == std::vector<std::string>{file});
        CHECK_FALSE(plan.use_loaded);
        CHECK(plan.chosen_by == "SDPA_GRAPH_CUDNN_PATH");
    }
}

TEST_CASE("a chosen name without a slash is a file of the working folder, not of the loader's") {
    auto const plan = cudnn::make_search_plan({{"libcudnn.so.9", "SDPA_GRAPH_CUDNN_PATH"}, {}, {}, {}});
    CHECK(plan.files == std::vector<std::string>{(fs::current_path() / "libcudnn.so.9").string()});
}

TEST_CASE("places come in order: installation, Python packages, toolkit, system") {
    TemporaryFolder const folder;
    std::string const python = "venv/lib/python3.12/site-packages/nvidia/cudnn/lib/libcudnn.so.9";
    std::string const older = "venv/lib/python3.9/site-packages/nvidia/cudnn/lib/libcudnn.so.9";
    std::string const debian = "usr/lib/python3/dist-packages/nvidia/cudnn/lib/libcudnn.so.9";
    std::vector<std::string> const expected = {
        folder.path + "/absent/lib/libcudnn.so.9",
        folder.add("cudnn/lib64/libcudnn.so.9"),
        folder.add(python),
        folder.add(older),
        folder.add(debian),
        folder.add("cuda/targets/x86_64-linux/lib/libcudnn.so.9"),
        "libcudnn.so.9",
    };
    std::string const& root = folder.path;
    auto const plan = cudnn::make_search_plan(
        {{}, {root + "/absent", root + "/cudnn"}, {root + "/venv", root + "/usr", root + "/venv"}, {root + "/cuda"}});
    CHECK(plan.files == expected);
    CHECK(plan.use_loaded);
    CHECK(plan.chosen_by.empty());
}

TEST_CASE("a conda environment has libraries in its lib folder, another prefix of Python has not") {
    TemporaryFolder const folder;
    std::string const conda = folder.add("conda/lib/libcudnn.so.9");
    folder.add("conda/conda-meta/history");
    folder.add("venv/lib/libcudnn.so.9");
    auto const plan = cudnn::make_search_plan({{}, {}, {folder.path + "/venv", folder.path + "/conda"}, {}});
    CHECK(plan.files == std::vector<std::string>{conda, "libcudnn.so.9"});
}

TEST_CASE("folders that cannot be read are passed over") {
    TemporaryFolder const folder;
    folder.add("venv/lib");  // a file where a folder is expected
    auto const plan = cudnn::make_search_plan({{}, {}, {folder.path + "/venv", "/nowhere"}, {}});
    CHECK(plan.files == std::vector<std::string>{"libcudnn.so.9"});
}

TEST_CASE("the environment's folders come before the usual ones, and an empty variable counts as not set") {
    CHECK(in_own_process([] {
              for (char const* name : {"SDPA_GRAPH_CUDNN_PATH", "CUDNN_PATH", "CUDA_HOME"}) setenv(name, "", 1);
              setenv("CUDNN_HOME", "/cudnn", 1);
              setenv("CUDA_PATH", "/cuda", 1);
              setenv("VIRTUAL_ENV", "/venv", 1);
              setenv("CONDA_PREFIX", "/conda", 1);
              setenv("HOME", "/home", 1);
              auto const folders = cudnn::search_folders();
              std::string text = "chosen " + folders.chosen.path + ";";
              for (auto const& prefix : folders.installations) text += " " + prefix;
              for (std::size_t i = 0; i < 5; ++i) text += " " + folders.python.at(i);
              for (auto const& prefix : folders.toolkit) text += " " + prefix;
              return text;
          }) == "chosen ; /cudnn /venv /conda /home/.local /usr/local /usr /cuda /usr/local/cuda");
}
