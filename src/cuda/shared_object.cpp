#include "cuda/shared_object.h"

#include "core/text.h"

#include <dlfcn.h>
#include <link.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

namespace cudnn_frontend::cuda {
namespace {

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// The loader's message without the file name in front, which the messages that quote it have.
std::string last_problem(std::string const& file) {
    char const* const problem = dlerror();
    std::string text = problem == nullptr ? "unknown" : problem;
    return text.starts_with(file + ": ") ? text.substr(file.size() + 2) : text;
}

struct WantedLibrary {
    std::string_view name_start;
    std::vector<std::string> paths;
};

int collect(dl_phdr_info* info, std::size_t, void* data) {
    auto& wanted = *static_cast<WantedLibrary*>(data);
    std::string_view const path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
    if (file_name(path).starts_with(wanted.name_start)) wanted.paths.emplace_back(path);
    return 0;
}

// The first file of that name on the loader's search path; empty if there is none in the folders that the loader lists.
std::string first_found(std::string const& file) {
    if (file.find('/') != std::string::npos) return file;
    for (std::string const& folder : running_program().search_folders()) {
        std::error_code ignored;
        std::string path = core::text(folder, "/", file);
        if (std::filesystem::exists(path, ignored)) return path;
    }
    return "";
}

}  // namespace

// NOW: a library with missing symbols then fails here, with a message; with lazy binding it would end the program.
// LOCAL: all symbols are looked up through handles, separate from the program's own and another copy's.
SharedObject open_object(std::string const& file) {
    if (SharedObject loaded = loaded_object(file.c_str())) return loaded;
    if (std::string problem = problem_of_object_file(first_found(file)); !problem.empty()) return {nullptr, problem};
    SharedObject object{dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL), ""};
    if (!object) object.problem = last_problem(file);
    return object;
}

SharedObject loaded_object(char const* name) {
    // The loader opens the file, without mapping it, to compare it with what is loaded.
    if (std::string problem = problem_of_kind(first_found(name)); !problem.empty()) return {nullptr, problem};
    SharedObject object{dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD), ""};
    if (!object) object.problem = "it is not loaded";
    return object;
}

SharedObject running_program() { return {dlopen(nullptr, RTLD_NOW), ""}; }

std::vector<std::string> loaded_paths(std::string_view name_start) {
    WantedLibrary wanted{name_start, {}};
    dl_iterate_phdr(collect, &wanted);
    return std::move(wanted.paths);
}

void* SharedObject::address_of(char const* name) const {
    // dlsym() looks through the whole program for a null handle.
    return handle == nullptr ? nullptr : dlsym(handle, name);
}

std::string SharedObject::path() const {
    link_map* map = nullptr;
    bool const is_known = handle != nullptr && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr;
    return is_known && map->l_name != nullptr ? map->l_name : "";
}

std::vector<std::string> SharedObject::search_folders() const {
    Dl_serinfo size{};
    if (handle == nullptr || dlinfo(handle, RTLD_DI_SERINFOSIZE, &size) != 0) return {};
    std::vector<std::max_align_t> memory(size.dls_size / sizeof(std::max_align_t) + 1);
    auto* const info = reinterpret_cast<Dl_serinfo*>(memory.data());
    *info = size;  // dlinfo() reads it
    if (dlinfo(handle, RTLD_DI_SERINFO, info) != 0) return {};
    Dl_serpath const* const paths = info->dls_serpath;
    std::vector<std::string> folders;
    for (unsigned i = 0; i < info->dls_cnt; ++i) folders.emplace_back(paths[i].dls_name);
    return folders;
}

}  // namespace cudnn_frontend::cuda
