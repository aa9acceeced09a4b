// Kept objects: what is found, what goes, and that threads make each of them once.
#include "core/process/kept_objects.h"

#include <cudnn_frontend/runtime.h>

#include "support/catch.h"
#include "support/kept_bytes.h"

#include <atomic>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace cudnn_frontend;
using sdpa_test::Kept;

namespace {

struct Text {
    int number;
    std::string text;
    std::shared_ptr<int> part = std::make_shared<int>();
    std::size_t bytes = 100;
};

struct TextKind {
    using Key = int;
    using Object = Text;
    static constexpr char const* kName = "texts of a test";
    static Key const& key_of(Object const& text) { return text.number; }
    static bool is_same(Key const& a, Key const& b) { return a == b; }
    static std::size_t bytes_of(Object const& text) { return text.bytes; }
    static bool is_held(Object const& text) { return text.part.use_count() > 1; }
};
using Texts = core::process::KeptObjects<TextKind>;

// Numbers of one hash, so that keys decide.
std::size_t hash_of(int number) { return static_cast<std::size_t>(number % 3); }

Texts::Found made(int number) {
    auto found = Texts::of_process().find_or_make(hash_of(number), number, [&]() -> Result<std::shared_ptr<Text>> {
        return std::make_shared<Text>(Text{number, std::to_string(number)});
    });
    REQUIRE(found.is_good());
    return found.value();
}

std::shared_ptr<Text> found(int number) {
    return Texts::of_process().find(hash_of(number), [&](int key) { return key == number; });
}

runtime::Kept_statistics counts() {
    for (auto const& kind : runtime::kept_statistics()) {
        if (std::string(kind.kind) == TextKind::kName) return kind;
    }
    return {};
}

}  // namespace

TEST_CASE("kept objects: statistics of kinds with one name are added up") {
    struct OtherKind : TextKind {
        static bool is_held(Object const&) { return false; }
    };
    using Others = core::process::KeptObjects<OtherKind>;
    Kept const kept(10000);
    auto const before = counts();
    made(1);
    auto const other = [] { return Result(std::make_shared<Text>(Text{2, "2"})); };
    REQUIRE(Others::of_process().find_or_make(hash_of(2), 2, other).is_good());
    CHECK(counts().builds - before.builds == 2);
    CHECK(counts().objects == 2);
    CHECK(counts().bytes == 200);
}

TEST_CASE("kept objects: an object is made once, and found by its key") {
    Kept const kept(10000);
    auto const before = counts();
    auto const first = made(1);
    CHECK_FALSE(first.is_known);
    CHECK(made(1).is_known);
    CHECK(made(1).object == first.object);
    CHECK(made(4).object != first.object);
    CHECK(found(4)->text == "4");
    CHECK(found(7) == nullptr);
    auto const after = counts();
    CHECK(after.objects == 2);
    CHECK(after.bytes == 200);
    CHECK(after.builds - before.builds == 2);
    CHECK(after.misses - before.misses == 2);
    CHECK(after.hits - before.hits == 3);
}

TEST_CASE("kept objects: the one that was used last the longest ago goes first, unless it is held") {
    Kept const kept(400);
    auto const before = counts();
    for (int number = 0; number < 4; ++number) made(number);
    std::shared_ptr<int> const part = found(1)->part;
    found(0);
    made(4);  // makes room for a sixteenth more
    CHECK(found(2) == nullptr);
    CHECK(found(3) == nullptr);
    for (int const number : {0, 1, 4}) CHECK(found(number) != nullptr);
    CHECK(counts().evictions - before.evictions == 2);
    runtime::set_kept_bytes(150);
    CHECK(counts().objects == 1);
    CHECK(found(1) != nullptr);
    runtime::set_kept_bytes(0);
    CHECK(counts().objects == 0);
    CHECK_FALSE(made(1).is_known);
    CHECK_FALSE(made(1).is_known);
}

TEST_CASE("kept objects: an object that grows makes others go") {
    Kept const kept(1000);
    for (int number = 0; number < 4; ++number) made(number);
    auto const large = found(0);
    large->bytes = 850;
    Texts::of_process().count_again(hash_of(0), *large);
    CHECK(counts().bytes == 850);
    CHECK(found(0) == large);
    CHECK(found(3) == nullptr);
    Texts::of_process().forget(hash_of(0), [](Text const& text) { return text.number == 0; });
    CHECK(counts().bytes == 0);
    CHECK(large->text == "0");
}

TEST_CASE("kept objects: threads that need one at once wait for the one that makes it, and get its error") {
    Kept const kept(10000);
    constexpr int kThreads = 8;
    auto const before = counts();
    for (bool const fails : {true, false}) {
        std::int64_t const expected = fails ? kThreads : 2 * kThreads;
        std::latch all_ask(kThreads);
        std::atomic<int> calls{0}, errors{0}, known{0};
        auto const make = [&]() -> Result<std::shared_ptr<Text>> {
            ++calls;
            while (counts().misses - before.misses < expected) std::this_thread::yield();  // until all others wait
            if (fails) throw std::runtime_error("no such text");
            return std::make_shared<Text>(Text{5, "five"});
        };
        std::vector<std::thread> threads;
        for (int thread = 0; thread < kThreads; ++thread) {
            threads.emplace_back([&] {
                all_ask.arrive_and_wait();
                auto const result = Texts::of_process().find_or_make(hash_of(5), 5, make);
                if (result.is_bad()) errors += result.error().get_message().find("no such text") != std::string::npos;
                else known += result.value().is_known;
            });
        }
        for (std::thread& thread : threads) thread.join();
        CHECK(calls == 1);
        CHECK(errors == (fails ? kThreads : 0));
        CHECK(known == (fails ? 0 : kThreads - 1));
    }
    CHECK(counts().builds - before.builds == 1);
}
