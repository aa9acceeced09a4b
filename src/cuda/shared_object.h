// Shared objects and the dynamic loader. An object that was opened is never closed.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace cudnn_frontend::cuda {

struct SharedObject {
    void* handle = nullptr;
    std::string problem;  // why it could not be opened

    explicit operator bool() const { return handle != nullptr; }

    // Null if the object has no such function, or is none.
    template <class Function>
    Function find(char const* name) const {
        static_assert(std::is_pointer_v<Function>);
        return reinterpret_cast<Function>(address_of(name));
    }
    // The path under which the loader found it.
    std::string path() const;
    // Where the loader looks for libraries that this object opens by name, besides the loader's cache.
    std::vector<std::string> search_folders() const;

   private:
    void* address_of(char const* name) const;
};

// Finds functions of an object, and keeps the names of those that it lacks.
class FunctionFinder {
   public:
    explicit FunctionFinder(SharedObject const& object) : object_(object) {}

    template <class Function>
    void operator()(Function& function, char const* name) {
        find_optional(function, name);
        if (function == nullptr) missing_ += (missing_.empty() ? "" : ", ") + std::string(name);
    }
    template <class Function>
    void find_optional(Function& function, char const* name) {
        function = object_.find<Function>(name);
    }
    std::string const& missing() const { return missing_; }

   private:
    SharedObject const& object_;
    std::string missing_;
};

SharedObject open_object(std::string const& file);
// The object that the process has already loaded under that name; loads nothing.
SharedObject loaded_object(char const* name);
SharedObject running_program();
// The paths of all loaded objects whose file names start so.
std::vector<std::string> loaded_paths(std::string_view name_start);

// Checks of a file before the loader opens it: the loader would block on a pipe, and a truncated library would end the
// program with a bus error.

// Empty if it is a regular file, or does not exist, which the loader reports.
std::string problem_of_kind(std::string const& path);

// The same, and that a library is not truncated. The loader refuses other files.
std::string problem_of_object_file(std::string const& path);

}  // namespace cudnn_frontend::cuda
