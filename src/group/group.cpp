// The parts of Group that need no GPU.
#include "core/guard.h"
#include "core/names.h"
#include "core/text.h"
#include "group/group_rules.h"
#include "group/task.h"
#include "group/threads.h"

#include <utility>

namespace cudnn_frontend::core {

template <>
std::span<char const* const> names_of<sdpa_graph::Group_way>() {
    static constexpr char const* kWays[] = {"AUTO", "GATHER", "ALL_TO_ALL", "RING"};
    return kWays;
}

}  // namespace cudnn_frontend::core

namespace sdpa_graph {

namespace fe = cudnn_frontend;
namespace rules = fe::group::rules;
using detail::Group_access;
using fe::error_t;
using fe::core::guarded;
using fe::core::text;

error_t Group::of_threads(int size, Group_limits const& limits, std::vector<Group>& members) noexcept {
    return guarded([&]() -> error_t {
        if (size < 1) {
            return rules::violation(rules::kSize, text("a size of ", size), "at least 1", "the number of threads");
        }
        std::vector<Group> made;
        for (auto& rank : fe::group::make_threads(size, fe::group::Milliseconds(limits.deadline_milliseconds))) {
            made.push_back(Group_access::member(std::move(rank)));
        }
        members = std::move(made);
        return {};
    });
}

error_t Group::described(int rank, int size, Group& member) noexcept {
    return guarded([&]() -> error_t {
        if (size < 1 || rank < 0 || rank >= size) {
            return rules::violation(rules::kSize, text("rank ", rank, " of ", size), "a rank from 0 to the size - 1",
                                    "pass the rank first");
        }
        member = Group_access::member(fe::group::make_described(rank, size));
        return {};
    });
}

int Group::rank() const noexcept { return transport_ == nullptr ? -1 : transport_->rank(); }
int Group::size() const noexcept { return transport_ == nullptr ? 0 : transport_->size(); }

static error_t no_group() {
    return rules::violation(rules::kSize, "a Group() without a rank", "a rank of a group",
                            "make it by Group::of_threads() or of_nccl()");
}

error_t Group::check() const noexcept {
    return guarded([&] { return transport_ == nullptr ? no_group() : transport_->check(); });
}

error_t Group::wait_for(CUstream_st* stream) const noexcept {
    return guarded([&] { return transport_ == nullptr ? no_group() : transport_->wait_for(stream); });
}

error_t Group::measure(bool is_on) const noexcept {
    if (transport_ == nullptr) return guarded([] { return no_group(); });
    transport_->measure(is_on);
    return {};
}

error_t Group::exchange_times(std::vector<Exchange_time>& times) const noexcept {
    return guarded([&] { return transport_ == nullptr ? no_group() : transport_->exchange_times().move_to(times); });
}

void Group::give_up(std::string const& reason) const noexcept {
    if (transport_ != nullptr) transport_->give_up(reason);
}

}  // namespace sdpa_graph
