#include "support/catch.h"

#include "core/threads.h"

#include <algorithm>
#include <atomic>
#include <vector>

TEST_CASE("a parallel loop visits each index once") {
    for (int const threads : {-1, 1, 2, 7}) {
        CAPTURE(threads);
        std::vector<std::atomic<int>> visits(100);
        std::atomic<bool> is_worker_in_range{true};
        cudnn_frontend::core::parallel_for(threads, 100, [&](int worker, std::int64_t index) {
            ++visits[static_cast<std::size_t>(index)];
            if (worker < 0 || worker >= std::max(threads, 1)) is_worker_in_range = false;
        });
        for (auto const& count : visits) CHECK(count == 1);
        CHECK(is_worker_in_range);
    }
}

TEST_CASE("a parallel loop over nothing does nothing") {
    std::atomic<int> calls{0};
    cudnn_frontend::core::parallel_for(4, 0, [&](int, std::int64_t) { ++calls; });
    CHECK(calls == 0);
}
