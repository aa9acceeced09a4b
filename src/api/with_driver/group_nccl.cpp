// The members of groups of GPUs.
#include "core/guard.h"
#include "core/text.h"
#include "cuda/driver.h"
#include "group/group_rules.h"
#include "group/task.h"
#include "nccl/nccl_transport.h"

#include <cstring>
#include <utility>

namespace sdpa_graph {
namespace {

namespace fe = cudnn_frontend;
namespace nccl = fe::nccl;
namespace rules = fe::group::rules;
using fe::error_t;
using fe::Result;
using fe::core::guarded;

fe::group::Milliseconds deadline_of(Group_limits const& limits) {
    return fe::group::Milliseconds(limits.deadline_milliseconds);
}

error_t check_rank(int rank, int size) {
    if (size >= 1 && rank >= 0 && rank < size) return {};
    return rules::violation(rules::kSize, fe::core::text("rank ", rank, " of ", size), "a rank from 0 to the size - 1",
                            "pass the rank first");
}

error_t make_id(nccl::UniqueId& id) {
    auto const library = nccl::library();
    return library.is_good() ? nccl::make_id(*library.value()).move_to(id) : library.error();
}

error_t join(nccl::UniqueId const& id, int rank, int size, Group_limits const& limits, Group& member) {
    auto const library = nccl::library();
    if (library.is_bad()) return library.error();
    auto streams = nccl::make_gpu_streams();
    if (streams.is_bad()) return streams.error();
    auto joined = nccl::join(*library.value(), std::move(streams).value(), id, rank, size, deadline_of(limits));
    if (joined.is_bad()) return joined.error();
    member = detail::Group_access::member(std::move(joined).value());
    return {};
}

}  // namespace

error_t Group::make_nccl_id(Nccl_id& id) noexcept {
    return guarded([&]() -> error_t {
        nccl::UniqueId made;
        SDPA_GRAPH_TRY(make_id(made));
        std::memcpy(id.bytes, made.bytes, sizeof(id.bytes));
        return {};
    });
}

error_t Group::of_nccl(Nccl_id const& id, int rank, int size, Group_limits const& limits, Group& member) noexcept {
    return guarded([&]() -> error_t {
        SDPA_GRAPH_TRY(check_rank(rank, size));
        nccl::UniqueId own;
        std::memcpy(own.bytes, id.bytes, sizeof(id.bytes));
        return join(own, rank, size, limits, member);
    });
}

error_t Group::of_nccl_file(std::string const& path, int rank, int size, Group_limits const& limits,
                            Group& member) noexcept {
    return guarded([&]() -> error_t {
        SDPA_GRAPH_TRY(check_rank(rank, size));
        nccl::UniqueId id;
        if (rank == 0) SDPA_GRAPH_TRY(make_id(id));
        SDPA_GRAPH_TRY(nccl::share_id(path, rank, deadline_of(limits), id));
        return join(id, rank, size, limits, member);
    });
}

error_t Group::adopt_nccl(ncclComm* communicator, Group_limits const& limits, Group& member) noexcept {
    return guarded([&]() -> error_t {
        if (communicator == nullptr) {
            return rules::violation(rules::kNccl, "a null communicator", "one that ncclCommInitRank() made",
                                    "in PyTorch run a collective first, which makes it");
        }
        auto const library = nccl::library();
        if (library.is_bad()) return library.error();
        auto streams = nccl::make_gpu_streams();
        if (streams.is_bad()) return streams.error();
        auto adopted = nccl::adopt(*library.value(), std::move(streams).value(), communicator, deadline_of(limits));
        if (adopted.is_bad()) return adopted.error();
        member = detail::Group_access::member(std::move(adopted).value());
        return {};
    });
}

}  // namespace sdpa_graph
