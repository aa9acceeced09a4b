#include "cudnn/library/library.h"

#include "support/catch.h"
#include "support/system/own_process.h"

#include <cudnn_frontend/runtime.h>

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

std::vector<std::string> paths_of(cuda::LibrarySearch const& search) {
    std::vector<std::string> paths;
    for (cuda::SearchedFile const& file : search.files) paths.push_back(file.path);
    return paths;
}

}  // namespace

TEST_CASE("a chosen file or folder is the only place") {
    TemporaryFolder const folder;
    std::string const file = folder.add("libcudnn.so.9");
    for (std::string const& chosen : {file, folder.path}) {
        auto const search = cudnn::make_library_search({{chosen, "SDPA_GRAPH_CUDNN_PATH"}, {"/a"}, {"/b"}, {"/c"}});
        CHECK(paths_of(search) == std::vector<std::string>{file});
        CHECK_FALSE(search.use_loaded);
        CHECK(search.chosen_by == "SDPA_GRAPH_CUDNN_PATH");
    }
}

TEST_CASE("a chosen name without a slash is a file of the working folder, not of the loader's") {
    auto const search = cudnn::make_library_search({{"libcudnn.so.9", "SDPA_GRAPH_CUDNN_PATH"}, {}, {}, {}});
    CHECK(paths_of(search) == std::vector<std::string>{(fs::current_path() / "libcudnn.so.9").string()});
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
    auto const search = cudnn::make_library_search(
        {{}, {root + "/absent", root + "/cudnn"}, {root + "/venv", root + "/usr", root + "/venv"}, {root + "/cuda"}});
    CHECK(paths_of(search) == expected);
    CHECK(search.use_loaded);
    CHECK(search.chosen_by.empty());
}

TEST_CASE("a conda environment has libraries in its lib folder, another prefix of Python has not") {
    TemporaryFolder const folder;
    std::string const conda = folder.add("conda/lib/libcudnn.so.9");
    folder.add("conda/conda-meta/history");
    folder.add("venv/lib/libcudnn.so.9");
    auto const search = cudnn::make_library_search({{}, {}, {folder.path + "/venv", folder.path + "/conda"}, {}});
    CHECK(paths_of(search) == std::vector<std::string>{conda, "libcudnn.so.9"});
}

TEST_CASE("packages that the program named come before all other places, and each file says why it is in the search") {
    TemporaryFolder const folder;
    std::string const own = folder.add("packages/nvidia/cudnn/lib/libcudnn.so.9");
    std::string const toolkit = folder.add("cuda/lib64/libcudnn.so.9");
    std::string const of_python = folder.add("venv/lib/python3.12/site-packages/nvidia/cudnn/lib/libcudnn.so.9");
    std::string const installed = folder.add("cudnn/lib/libcudnn.so.9"), &root = folder.path;
    std::vector<cuda::SearchedFile> const expected = {
        {own, "from the packages in " + root + "/packages, which the program named"},
        {installed, "from the installation that CUDNN_PATH or CUDNN_HOME names"},
        {of_python, "from a package of the Python in " + root + "/venv"},
        {toolkit, "from the CUDA toolkit in " + root + "/cuda"},
        {"libcudnn.so.9", "found by the system's loader: LD_LIBRARY_PATH, then the system's folders"},
    };
    cuda::SearchFolders folders{{}, {root + "/cudnn"}, {root + "/venv"}, {root + "/cuda"}};
    folders.packages = {root + "/no_such_packages", root + "/packages"};
    CHECK(cudnn::make_library_search(folders).files == expected);
    std::string const flat = folder.add("conda/lib/libcudnn.so.9");
    folders.packages = {root + "/conda/lib"};
    CHECK(paths_of(cudnn::make_library_search(folders)).front() == flat);
    folders.chosen = {own, "SDPA_GRAPH_CUDNN_PATH"};
    CHECK(cudnn::make_library_search(folders).files ==
          std::vector<cuda::SearchedFile>{{own, "chosen by SDPA_GRAPH_CUDNN_PATH"}});
}

TEST_CASE("the folders of packages are those that the program named last") {
    CHECK(in_own_process([] {
              static_cast<void>(runtime::set_package_folders({"/first"}));
              static_cast<void>(runtime::set_package_folders({"/second", "/third"}));
              std::string text;
              for (auto const& folder : cudnn::search_folders().packages) text += folder + " ";
              return text;
          }) == "/second /third ");
}

TEST_CASE("folders that cannot be read are passed over") {
    TemporaryFolder const folder;
    folder.add("venv/lib");  // a file where a folder is expected
    auto const search = cudnn::make_library_search({{}, {}, {folder.path + "/venv", "/nowhere"}, {}});
    CHECK(paths_of(search) == std::vector<std::string>{"libcudnn.so.9"});
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
