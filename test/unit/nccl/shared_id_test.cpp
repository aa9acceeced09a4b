// Ids that travel through a file.
#include "unit/nccl/fake_ranks.h"

#include <unistd.h>

#include <filesystem>

using namespace test;

namespace {

// A name for a file that is removed in the end.
struct FileName {
    std::string path = (std::filesystem::temp_directory_path() / ("id_" + std::to_string(getpid()))).string();
    ~FileName() { std::filesystem::remove(path); }
};

}  // namespace

TEST_CASE("nccl: all ranks read the id that rank 0 wrote") {
    FileName const file;
    nccl::UniqueId const id = fake_id();
    std::vector<std::string> messages(3);
    on_all_ranks(3, [&](int rank) {
        nccl::UniqueId own = rank == 0 ? id : nccl::UniqueId{};
        std::string& message = messages[static_cast<std::size_t>(rank)];
        message = nccl::share_id(file.path, rank, group::Milliseconds(60000), own).get_message();
        if (std::memcmp(own.bytes, id.bytes, sizeof(id.bytes)) != 0) message += "another id";
    });
    CHECK(messages == std::vector<std::string>(3));
    nccl::UniqueId again = id;
    CHECK_THAT(nccl::share_id(file.path, 0, group::Milliseconds(100), again).get_message(),
               Catch::Contains("[group.c18]: found " + file.path + ", which is there already"));
}

TEST_CASE("group.c14: ranks wait for the file until the deadline") {
    nccl::UniqueId id{};
    CHECK_THAT(nccl::share_id("/nowhere/id", 1, group::Milliseconds(50), id).get_message(),
               Catch::Contains("[group.c14]: found rank 1 waited 50 ms for /nowhere/id"));
    CHECK_THAT(nccl::share_id("/nowhere/id", 0, group::Milliseconds(50), id).get_message(),
               Catch::Contains("[group.c18]: found /nowhere/id: "));
}
