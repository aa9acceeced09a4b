// The plan store where writers are killed, disks are full, clocks jump, or folders may not be written.
#include "plan/storage/plan_folder.h"
#include "plan/storage/store_entry.h"
#include "support/catch.h"
#include "support/skip.h"
#include "support/system/own_process.h"
#include "support/system/temporary_folder.h"

#include <sdpa_graph/plan_store.h>

#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <string>
#include <vector>

using cudnn_frontend::plan::PlanFolder;
using sdpa_test::TemporaryFolder;
namespace fs = std::filesystem;
namespace plan = cudnn_frontend::plan;

namespace {

constexpr rlim_t kRoom = 4096;  // of a file, in the processes that have a full disk or end in the middle of writing

std::string const kOld(100, 'o'), kNew(100, 'n'), kLarge(4 * kRoom, 'l');

enum class AtEnd { Fails, KillsWriter };

// From now on this process cannot write files of more than kRoom bytes. The write that would is cut off there.
void limit_files(AtEnd end) {
    static_cast<void>(std::signal(
        SIGXFSZ, end == AtEnd::Fails ? SIG_IGN : [](int) { static_cast<void>(raise(SIGKILL)); }));
    rlimit const limit{kRoom, kRoom};
    static_cast<void>(setrlimit(RLIMIT_FSIZE, &limit));
}

std::string const kKilled = "ended by signal " + std::to_string(SIGKILL);

std::string write_and_be_killed(PlanFolder const& plans, std::string const& key) {
    return in_own_process([&] {
        limit_files(AtEnd::KillsWriter);
        return plans.write(key, kLarge).get_message();
    });
}

std::vector<fs::path> unfinished_in(fs::path const& folder) {
    std::vector<fs::path> files;
    for (auto const& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.path().extension() == ".new") files.push_back(entry.path());
    }
    return files;
}

std::string text_of(PlanFolder const& plans, std::string const& key) {
    auto const read = plans.read(key);
    return read.is_good() ? read.value() : read.error().err_msg;
}

bool contains(std::string const& text, char const* part) { return text.find(part) != std::string::npos; }

void set_hours_from_now(fs::path const& file, int hours) {
    fs::last_write_time(file, fs::file_time_type::clock::now() + std::chrono::hours(hours));
}

std::int64_t pruned(fs::path const& store, std::uintmax_t bytes) { return plan::prune_store(store, bytes).value(); }

// A store, and another one to merge into it.
struct TwoStores {
    TemporaryFolder folder;
    fs::path store = folder.path() / "store", other = folder.path() / "other";
    PlanFolder plans{store / "environment"}, source{other / "environment"};
};

}  // namespace

TEST_CASE("store faults: a writer that is killed in the middle leaves the old entry, and a file that pruning removes") {
    TemporaryFolder const store;
    PlanFolder const plans(store.path() / "environment");
    REQUIRE(plans.write("old", kOld).is_good());
    for (char const* const key : {"old", "new"}) REQUIRE(write_and_be_killed(plans, key) == kKilled);
    auto const left = unfinished_in(store.path());
    REQUIRE(left.size() == 2);
    for (fs::path const& file : left) CHECK(fs::file_size(file) == kRoom);
    CHECK(text_of(plans, "old") == kOld);
    CHECK(contains(text_of(plans, "new"), "is not there"));

    for (char const* const key : {"old", "new"}) {
        REQUIRE(plans.write(key, kNew).is_good());
        CHECK(text_of(plans, key) == kNew);
    }
    CHECK(pruned(store.path(), 1 << 20) == 0);
    CHECK(unfinished_in(store.path()).size() == 2);  // their writers may still write
    for (fs::path const& file : left) set_hours_from_now(file, -2);
    CHECK(pruned(store.path(), 1 << 20) == 0);
    CHECK(unfinished_in(store.path()).empty());
    CHECK(text_of(plans, "new") == kNew);
}

TEST_CASE("store faults: pruning removes the unfinished mark of a frozen store, and no other program's file") {
    TemporaryFolder const store;
    REQUIRE(PlanFolder(store.path() / "environment").write("old", kOld).is_good());
    fs::path const mark = store.path() / "frozen.17.0.new", others = store.path() / "frozen.food.new",
                   elsewhere = store.path() / "environment" / "frozen.17.0.new";
    for (fs::path const& file : {mark, others, elsewhere}) {
        std::ofstream(file) << "half a";
        CHECK(pruned(store.path(), 1 << 20) == 0);
        CHECK(fs::exists(file));  // its writer may still write
        set_hours_from_now(file, -2);
    }
    CHECK(pruned(store.path(), 1 << 20) == 0);
    CHECK_FALSE(fs::exists(mark));
    CHECK(fs::exists(others));
    CHECK(fs::exists(elsewhere));
}

// In containers, and on machines that share a folder, other processes have the same id.
TEST_CASE("store faults: what a killed writer with the same process id left is neither in the way nor removed") {
    TemporaryFolder const store;
    PlanFolder const plans(store.path());
    auto const as_first_process = [&](auto const& function) {
        return in_own_process([&]() -> std::string {
            bool const may = unshare(CLONE_NEWPID) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWPID) == 0;
            return may ? in_own_process(function) : "not allowed";
        });
    };
    std::string const first =
        as_first_process([&] { return write_and_be_killed(plans, "key") + std::to_string(getpid()); });
    if (first == "not allowed") {
        sdpa_test::skip("this user may not make namespaces of processes");
        return;
    }
    REQUIRE(first == kKilled + "1");
    CHECK(unfinished_in(store.path()).size() == 1);
    // The writer is the second process of its namespace, as the one that was killed was.
    auto const write = [&] { return in_own_process([&] { return plans.write("key", kNew).get_message(); }); };
    CHECK(as_first_process(write).empty());
    CHECK(text_of(plans, "key") == kNew);
    CHECK(unfinished_in(store.path()).size() == 1);
}

TEST_CASE("store faults: on a full disk writes fail and leave nothing, and reads go on") {
    TwoStores const stores;
    auto const& [folder, store, other, plans, source] = stores;
    REQUIRE(plans.write("old", kOld).is_good());
    REQUIRE(source.write("large", kLarge).is_good());
    auto const on_full_disk = [](auto const& function) {
        return in_own_process([&]() -> std::string {
            limit_files(AtEnd::Fails);
            return function();
        });
    };
    for (char const* const key : {"old", "new"}) {
        CHECK(contains(on_full_disk([&] { return plans.write(key, kLarge).get_message(); }), "could not be written"));
    }
    CHECK(contains(on_full_disk([&] { return plan::merge_stores(other, store).error().get_message(); }),
                   "could not be written"));
    CHECK(on_full_disk([&] {
              sdpa_graph::set_plan_store({store.string()});
              plan::StoreEntry::of({"environment"}, "key")->write(kLarge);
              plans.mark_used("old");
              return text_of(plans, "old");
          }) == kOld);
    CHECK(unfinished_in(folder.path()).empty());
    CHECK(contains(text_of(plans, "new"), "is not there"));
    CHECK(pruned(store, 1 << 20) == 0);
    CHECK(text_of(plans, "old") == kOld);
}

TEST_CASE("store faults: entries are read whatever the time of their files") {
    TemporaryFolder const store;
    PlanFolder const plans(store.path());
    REQUIRE(plans.write("key", kOld).is_good());
    for (int const hours : {-24 * 365 * 60, -1, 1, 24 * 365 * 60}) {
        set_hours_from_now(plans.file_of("key"), hours);
        CHECK(text_of(plans, "key") == kOld);
    }
    plans.mark_used("key");
    auto const age = fs::file_time_type::clock::now() - fs::last_write_time(plans.file_of("key"));
    CHECK(std::chrono::abs(age) < std::chrono::hours(1));
}

TEST_CASE("store faults: after the clock was set back, pruning keeps what was used since") {
    TemporaryFolder const store;
    PlanFolder const plans(store.path() / "environment");
    for (char const* const key : {"before", "far before", "fresh", "used"}) REQUIRE(plans.write(key, kOld).is_good());
    set_hours_from_now(plans.file_of("before"), 24 * 365);
    set_hours_from_now(plans.file_of("far before"), -24 * 365 * 60);
    set_hours_from_now(plans.file_of("used"), 24 * 365);
    plans.mark_used("used");
    std::uintmax_t const bytes = fs::file_size(plans.file_of("fresh"));
    CHECK(pruned(store.path(), 2 * bytes + bytes / 2) == 2);
    for (char const* const key : {"fresh", "used"}) CHECK(text_of(plans, key) == kOld);
}

TEST_CASE("store faults: after the clock was set back, pruning removes the files of killed writers all the same") {
    TemporaryFolder const store;
    PlanFolder const plans(store.path() / "environment");
    REQUIRE(write_and_be_killed(plans, "key") == kKilled);
    set_hours_from_now(unfinished_in(store.path()).at(0), 24 * 365);
    CHECK(pruned(store.path(), 0) == 0);
    CHECK(unfinished_in(store.path()).empty());
}

TEST_CASE("store faults: readers beside writers of two processes see one whole plan or another") {
    TemporaryFolder const store;
    PlanFolder const plans(store.path());
    REQUIRE(plans.write("key", kOld).is_good());
    std::string const other(300, 'x');
    auto const start = [&](std::string const& bytes) {
        pid_t const child = fork();
        if (child != 0) return child;
        bool is_good = true;
        for (int i = 0; i < 300; ++i) is_good = plans.write("key", bytes).is_good() && is_good;
        _exit(is_good ? 0 : 1);
    };
    std::vector<pid_t> writers = {start(kNew), start(other)};
    std::vector<std::string> wrong;
    while (!writers.empty()) {
        std::string const text = text_of(plans, "key");
        if (text != kOld && text != kNew && text != other) wrong.push_back(text);
        std::erase_if(writers, [](pid_t writer) {
            int status = 0;
            if (waitpid(writer, &status, WNOHANG) == 0) return false;
            CHECK(status == 0);
            return true;
        });
    }
    CHECK(wrong == std::vector<std::string>());
    std::string const last = text_of(plans, "key");
    CHECK((last == kNew || last == other));
    CHECK(unfinished_in(store.path()).empty());
}

// Root writes in spite of modes, and its files are trusted by all users.
TEST_CASE("store faults: a folder that may not be written is read, and writing to it fails and leaves nothing") {
    TwoStores const stores;
    auto const& [folder, store, other, plans, source] = stores;
    REQUIRE(plans.write("old", kOld).is_good());
    REQUIRE(source.write("new", kNew).is_good());
    for (fs::path const& each : {store, store / "environment"})
        fs::permissions(each, fs::perms::owner_write, fs::perm_options::remove);
    auto const as_reader = [](auto const& function) {
        return in_own_process([&]() -> std::string {
            constexpr uid_t kNobody = 65534;
            if (geteuid() == 0 && setuid(kNobody) != 0) return "no other user";
            return function();
        });
    };
    CHECK(as_reader([&] { return text_of(plans, "old"); }) == kOld);
    for (char const* const key : {"old", "new"}) {
        CHECK(contains(as_reader([&] { return plans.write(key, kNew).get_message(); }), "could not be written"));
    }
    CHECK(as_reader([&] {
              sdpa_graph::set_plan_store({store.string()});
              auto const entry = plan::StoreEntry::of({"environment"}, "key");
              entry->write(kNew);
              return entry->read() ? "written" : "a miss";
          }) == "a miss");
    CHECK(as_reader([&] { return std::to_string(pruned(store, 0)); }) == "0");
    CHECK(contains(as_reader([&] { return plan::merge_stores(other, store).error().get_message(); }),
                   "could not be written"));
    CHECK(contains(as_reader([&] { return plan::freeze_store(store, true).get_message(); }),
                   "do it as a user who may write the folder"));
    CHECK(unfinished_in(store).empty());
    CHECK(text_of(plans, "old") == kOld);
    fs::permissions(store, fs::perms::owner_write, fs::perm_options::add);
    fs::permissions(store / "environment", fs::perms::owner_write, fs::perm_options::add);
}

TEST_CASE("store faults: a pipe with the name of a plan is neither waited for nor removed") {
    TemporaryFolder const folder;
    fs::path const store = folder.path() / "store";
    PlanFolder const plans(store / "environment");
    REQUIRE(plans.write("key", kOld).is_good());
    fs::path const pipe = store / "environment" / "pipe.plan";
    REQUIRE(mkfifo(pipe.c_str(), S_IRUSR | S_IWUSR) == 0);
    std::string const answer = in_own_process([&] {
        alarm(20);  // ends a process that waits for the pipe's writer
        auto const merged = plan::merge_stores(store, folder.path() / "into").value();
        auto const listed = plan::keys_of_store(store, 10).size();
        auto const removed = pruned(store, 0);
        return std::to_string(merged) + " merged, " + std::to_string(listed) + " listed, " + std::to_string(removed) +
               " removed";
    });
    CHECK(answer == "1 merged, 1 listed, 1 removed");
    CHECK(fs::exists(pipe));
}
