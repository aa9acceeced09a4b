// Plans in files, whole and damaged.
#include "plan/storage/plan_folder.h"
#include "plan/storage/store_entry.h"
#include "support/catch.h"
#include "support/skip.h"
#include "support/system/temporary_folder.h"

#include <sdpa_graph/plan_store.h>

#include <sys/stat.h>
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

using cudnn_frontend::plan::PlanFolder;
using sdpa_test::TemporaryFolder;
namespace fs = std::filesystem;
using Bytes = std::string;

namespace {

Bytes plan(std::uint8_t first, std::size_t count = 1000) {
    Bytes bytes(count, '\0');
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>(first + i * 7);
    return bytes;
}

std::string text_of(fs::path const& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

void write_text(fs::path const& file, std::string const& text) { std::ofstream(file, std::ios::binary) << text; }

std::string why_missed(PlanFolder const& folder, std::string const& key) {
    auto const read = folder.read(key);
    return read.is_good() ? "" : read.error().err_msg;
}

bool contains(std::string const& text, char const* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("plan folder: what was written under a key is read under it alone") {
    TemporaryFolder const folder;
    PlanFolder const plans(folder.path() / "of" / "one");
    CHECK(contains(why_missed(plans, "a"), "is not there"));
    REQUIRE(plans.write("a", plan(1)).is_good());
    REQUIRE(plans.write("b", plan(2)).is_good());
    CHECK(plans.read("a").value() == plan(1));
    CHECK(plans.read("b").value() == plan(2));
    REQUIRE(plans.write("a", plan(3, 10)).is_good());
    CHECK(plans.read("a").value() == plan(3, 10));
    CHECK(contains(why_missed(plans, "c"), "is not there"));
}

TEST_CASE("plan folder: damage anywhere is a miss") {
    TemporaryFolder const folder;
    PlanFolder const plans(folder.path());
    std::string const key = "the whole graph";
    REQUIRE(plans.write(key, plan(1, 100)).is_good());
    std::string const whole = text_of(plans.file_of(key));
    for (std::size_t i = 0; i < whole.size(); ++i) {
        std::string flipped = whole;
        flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
        write_text(plans.file_of(key), flipped);
        INFO("byte " << i);
        CHECK(plans.read(key).is_bad());
        write_text(plans.file_of(key), whole.substr(0, i));
        CHECK(plans.read(key).is_bad());
    }
    write_text(plans.file_of(key), whole + "x");
    CHECK(contains(why_missed(plans, key), "has another size than it says"));
    write_text(plans.file_of(key), whole);
    CHECK(plans.read(key).is_good());
}

TEST_CASE("plan folder: a file of another key is a miss") {
    TemporaryFolder const folder;
    PlanFolder const plans(folder.path());
    REQUIRE(plans.write("a", plan(1)).is_good());
    fs::copy_file(plans.file_of("a"), plans.file_of("b"));
    CHECK(contains(why_missed(plans, "b"), "is the plan of another graph or environment"));
}

TEST_CASE("plan folder: a file that other users can write is a miss") {
    TemporaryFolder const folder;
    PlanFolder const plans(folder.path());
    mode_t const before = umask(0);
    bool const is_written = plans.write("key", plan(3)).is_good();
    umask(before);
    REQUIRE(is_written);
    fs::path const file = plans.file_of("key");
    CHECK((fs::status(file).permissions() & (fs::perms::group_write | fs::perms::others_write)) == fs::perms::none);
    CHECK(plans.read("key").is_good());
    for (fs::perms const writable : {fs::perms::group_write, fs::perms::others_write}) {
        fs::permissions(file, writable, fs::perm_options::add);
        CHECK(contains(why_missed(plans, "key"), "found the mode 6"));
        fs::permissions(file, writable, fs::perm_options::remove);
        CHECK(plans.read("key").is_good());
    }
}

TEST_CASE("plan folder: a pipe in place of a file is a miss, and is not waited for") {
    TemporaryFolder const folder;
    PlanFolder const plans(folder.path());
    fs::create_directories(plans.file_of("key").parent_path());
    REQUIRE(mkfifo(plans.file_of("key").c_str(), S_IRUSR | S_IWUSR) == 0);
    CHECK(contains(why_missed(plans, "key"), "found no regular file; expected a stored plan. Try: remove it."));
}

TEST_CASE("plan folder: a file of another user is a miss, until it is merged") {
    if (geteuid() != 0) {
        sdpa_test::skip("only root can give files to other users");
        return;
    }
    TemporaryFolder const folder;
    PlanFolder const theirs(folder.path() / "theirs" / "environment"), ours(folder.path() / "ours" / "environment");
    REQUIRE(theirs.write("key", plan(3)).is_good());
    REQUIRE(chown(theirs.file_of("key").c_str(), 12345, 12345) == 0);
    CHECK(contains(why_missed(theirs, "key"), "found the owner 12345; expected this user, 0, or root"));
    auto const copied = cudnn_frontend::plan::merge_stores(folder.path() / "theirs", folder.path() / "ours");
    REQUIRE(copied.is_good());
    CHECK(copied.value() == 1);
    CHECK(ours.read("key").is_good());
}

TEST_CASE("plan folder: what cannot be written is an error, and leaves nothing behind") {
    TemporaryFolder const folder;
    fs::create_directories(folder.path());
    write_text(folder.path() / "file", "");
    PlanFolder const below(folder.path() / "file" / "plans");
    CHECK(contains(below.write("a", plan(1)).err_msg, "could not be written"));
    CHECK(below.read("a").is_bad());
    fs::create_directories(PlanFolder(folder.path()).file_of("a") / "in the way");
    CHECK(PlanFolder(folder.path()).write("a", plan(1)).is_bad());
    std::size_t files = 0;
    for (auto const& entry : fs::directory_iterator(folder.path())) files += entry.path().extension() == ".new" ? 1 : 0;
    CHECK(files == 0);
}

TEST_CASE("plan folder: readers beside writers see one whole plan or another") {
    TemporaryFolder const folder;
    PlanFolder const plans(folder.path());
    REQUIRE(plans.write("a", plan(0)).is_good());
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (std::uint8_t writer = 0; writer < 2; ++writer) {
        threads.emplace_back([&, writer] {
            for (int i = 0; i < 200; ++i) wrong += plans.write("a", plan(writer)).is_bad() ? 1 : 0;
        });
        threads.emplace_back([&] {
            for (int i = 0; i < 400; ++i) {
                auto const read = plans.read("a");
                bool const is_right = read.is_good() && (read.value() == plan(0) || read.value() == plan(1));
                wrong += is_right ? 0 : 1;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
}

TEST_CASE("plan store: a program's choice outranks the environment") {
    sdpa_graph::set_plan_store({"somewhere", true});
    CHECK(sdpa_graph::plan_store().folder == "somewhere");
    CHECK(sdpa_graph::plan_store().is_frozen);
    sdpa_graph::set_plan_store({});
    CHECK(sdpa_graph::plan_store().folder.empty());
}

TEST_CASE("plan stores: merging copies the whole files that the other lacks") {
    TemporaryFolder const folder;
    fs::path const from = folder.path() / "from", into = folder.path() / "into";
    PlanFolder const source(from / "environment"), target(into / "environment");
    for (char const* const key : {"a", "b", "c"}) REQUIRE(source.write(key, plan(1)).is_good());
    REQUIRE(target.write("a", plan(2)).is_good());
    write_text(target.file_of("b"), "damaged");
    write_text(source.file_of("c"), "damaged");
    CHECK(cudnn_frontend::plan::merge_stores(from, into).value() == 1);
    CHECK(target.read("a").value() == plan(2));
    CHECK(target.read("b").value() == plan(1));
    CHECK(target.read("c").is_bad());
    CHECK(cudnn_frontend::plan::merge_stores(from, into).value() == 0);
    auto const failure = cudnn_frontend::plan::merge_stores(folder.path() / "nowhere", into).error();
    CHECK(contains(failure.err_msg, "nowhere' cannot be read: "));
}

TEST_CASE("plan stores: pruning removes what was used least recently") {
    TemporaryFolder const folder;
    PlanFolder const first(folder.path() / "one"), second(folder.path() / "two");
    for (char const* const key : {"a", "b"}) {
        REQUIRE(first.write(key, plan(1)).is_good());
        REQUIRE(second.write(key, plan(1)).is_good());
    }
    auto const now = fs::file_time_type::clock::now();
    auto const used = [&](fs::path const& file, int hours) {
        fs::last_write_time(file, now - std::chrono::hours(hours));
    };
    used(first.file_of("a"), 4), used(first.file_of("b"), 3), used(second.file_of("a"), 2),
        used(second.file_of("b"), 1);
    first.mark_used("a");
    fs::path const foreign = folder.path() / "one" / "engine.plan", deeper = folder.path() / "one" / "more";
    write_text(foreign, "of another program");
    fs::create_directories(deeper);
    fs::copy_file(first.file_of("a"), deeper / "a.plan");
    std::uintmax_t const bytes = fs::file_size(first.file_of("a"));
    CHECK(cudnn_frontend::plan::prune_store(folder.path(), 4 * bytes).value() == 0);
    CHECK(cudnn_frontend::plan::prune_store(folder.path(), 2 * bytes + bytes / 2).value() == 2);
    CHECK((first.read("a").is_good() && second.read("b").is_good()));
    CHECK((first.read("b").is_bad() && second.read("a").is_bad()));
    CHECK(cudnn_frontend::plan::prune_store(folder.path(), 0).value() == 2);
    CHECK((fs::exists(foreign) && fs::exists(deeper / "a.plan")));
    CHECK(cudnn_frontend::plan::prune_store(folder.path() / "nowhere", 0).is_bad());
}

TEST_CASE("plan stores: a frozen one is read, and not written, merged into or pruned") {
    TemporaryFolder const folder;
    fs::path const from = folder.path() / "from", store = folder.path() / "store";
    PlanFolder const source(from / "environment"), kept(store / "environment");
    REQUIRE(source.write("other", plan(1)).is_good());
    REQUIRE(kept.write("environment\na", plan(1)).is_good());
    REQUIRE(sdpa_graph::freeze_plan_store(store.string()).is_good());
    CHECK(sdpa_graph::is_plan_store_frozen(store.string()));
    CHECK(!sdpa_graph::is_plan_store_frozen(from.string()));

    sdpa_graph::set_plan_store({store.string()});
    using cudnn_frontend::plan::StoreEntry;
    auto const known = StoreEntry::of({"environment"}, "a"), unknown = StoreEntry::of({"environment"}, "b");
    REQUIRE((known && unknown));
    CHECK(known->read()->bytes == plan(1));
    unknown->write(plan(2));
    CHECK_FALSE(unknown->read());
    sdpa_graph::Filled_plans filled;
    auto const refusal = sdpa_graph::fill_plan_store(from.string(), "h100", filled);
    CHECK(contains(refusal.get_message(), "is frozen; thaw it by sdpa store"));
    sdpa_graph::set_plan_store({});
    CHECK(contains(cudnn_frontend::plan::merge_stores(from, store).error().get_message(), "is frozen"));
    CHECK(contains(cudnn_frontend::plan::prune_store(store, 0).error().get_message(), "is frozen"));

    REQUIRE(sdpa_graph::freeze_plan_store(store.string(), false).is_good());
    CHECK(cudnn_frontend::plan::merge_stores(from, store).value() == 1);
    CHECK(cudnn_frontend::plan::prune_store(store, 0).value() == 2);
    CHECK(contains(sdpa_graph::freeze_plan_store((store / "nowhere").string()).get_message(), "is no folder"));
}
