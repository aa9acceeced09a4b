// A folder of a test's own.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace sdpa_test {

// All users may read it. It is gone at the end.
class TemporaryFolder {
   public:
    TemporaryFolder() {
        namespace fs = std::filesystem;
        std::string name = (fs::temp_directory_path() / "sdpa_test_XXXXXX").string();
        path_ = mkdtemp(name.data());
        fs::permissions(path_, fs::perms::group_exec | fs::perms::others_exec, fs::perm_options::add);
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(TemporaryFolder const&) = delete;
    TemporaryFolder& operator=(TemporaryFolder const&) = delete;

    std::filesystem::path const& path() const { return path_; }

   private:
    std::filesystem::path path_;
};

}  // namespace sdpa_test
