// A stand-in for NCCL whose ranks are threads of one process and whose GPUs are the host's memory. Pieces travel while
// their ranks ask for asynchronous errors, as calls of a communicator that does not block are in progress until then.
#include "fake_nccl.h"

#include <cstddef>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

constexpr int kSuccess = 0, kInternalError = 3, kInvalidArgument = 4, kRemoteError = 6, kInProgress = 7;

struct Id {
    char bytes[128];
};

// One end of a piece's way. The sender's memory is read when the receiver takes it.
struct Message {
    void const* memory;
    std::size_t bytes;
    bool* is_taken;
};

struct Operation {
    bool is_send;
    int peer;
    void* memory;
    std::size_t bytes;
    bool is_done = false;
};

}  // namespace

struct ncclComm {
    std::string id;
    int rank, size;
    bool is_aborted = false, is_destroyed = false;
    std::deque<Operation> pending = {};
};

namespace {

// Keeps members that have gone, since others may still look at them.
struct Meeting {
    std::vector<std::unique_ptr<ncclComm>> members;
};

std::mutex& mutex() {
    static std::mutex one;
    return one;
}
std::map<std::string, Meeting>& meetings() {
    static std::map<std::string, Meeting> all;
    return all;
}
std::map<std::string, int>& faults() {
    static std::map<std::string, int> all;
    return all;
}
std::map<std::tuple<std::string, int, int>, std::deque<Message>>& mail() {
    static std::map<std::tuple<std::string, int, int>, std::deque<Message>> all;
    return all;
}

thread_local std::vector<std::pair<ncclComm*, Operation>> t_group;
thread_local bool t_in_group = false;

// The result that a test has chosen for a call.
int fault_of(char const* call) {
    std::lock_guard const lock(mutex());
    auto const found = faults().find(call);
    return found == faults().end() ? kSuccess : found->second;
}

int post(ncclComm* communicator, std::vector<Operation> const& operations) {
    std::lock_guard const lock(mutex());
    for (Operation const& operation : operations) {
        communicator->pending.push_back(operation);
        Operation& kept = communicator->pending.back();
        if (!kept.is_send) continue;
        mail()[{communicator->id, communicator->rank, kept.peer}].push_back({kept.memory, kept.bytes, &kept.is_done});
    }
    return communicator->pending.empty() ? kSuccess : kInProgress;
}

// Takes what has arrived. Operations stay in the list until all are done, since messages point to them.
int progress(ncclComm& communicator) {
    Meeting const& meeting = meetings()[communicator.id];
    if (static_cast<int>(meeting.members.size()) < communicator.size) return kInProgress;
    bool are_done = true;
    for (Operation& operation : communicator.pending) {
        auto& box = mail()[{communicator.id, operation.peer, communicator.rank}];
        if (!operation.is_send && !operation.is_done && !box.empty()) {
            if (box.front().bytes != operation.bytes) return kInternalError;
            std::memcpy(operation.memory, box.front().memory, operation.bytes);
            *box.front().is_taken = operation.is_done = true;
            box.pop_front();
        }
        are_done = are_done && operation.is_done;
    }
    if (are_done) communicator.pending.clear();
    for (auto const& member : meeting.members) {
        if (member->is_aborted && !are_done) return kRemoteError;
    }
    return are_done ? kSuccess : kInProgress;
}

template <class Condition>
int count_of(Condition const& condition) {
    std::lock_guard const lock(mutex());
    int count = 0;
    for (auto const& [id, meeting] : meetings()) {
        for (auto const& member : meeting.members) count += condition(*member) ? 1 : 0;
    }
    return count;
}

int enqueue(ncclComm* communicator, Operation const& operation) {
    if (t_in_group) return t_group.emplace_back(communicator, operation), kSuccess;
    return post(communicator, {operation});
}

}  // namespace

extern "C" {

void fake_nccl_set(char const* call, int result) {
    std::lock_guard const lock(mutex());
    faults()[call] = result;
}
void fake_nccl_reset() {
    std::lock_guard const lock(mutex());
    faults().clear();
    mail().clear();
    meetings().clear();
}
int fake_nccl_open() {
    return count_of([](ncclComm const& member) { return !member.is_aborted && !member.is_destroyed; });
}
int fake_nccl_aborted() {
    return count_of([](ncclComm const& member) { return member.is_aborted; });
}

int ncclGetVersion(int* version) {
    int const chosen = fault_of("version");
    *version = chosen == 0 ? 22809 : chosen;
    return fault_of("ncclGetVersion");
}
int ncclGetUniqueId(Id* id) {
    static int count = 0;
    std::lock_guard const lock(mutex());
    std::memset(id->bytes, 0, sizeof(id->bytes));
    std::memcpy(id->bytes, &++count, sizeof(count));
    auto const found = faults().find("ncclGetUniqueId");
    return found == faults().end() ? kSuccess : found->second;
}
int ncclCommInitRankConfig(ncclComm** communicator, int size, Id id, int rank, void*) {
    if (int const fault = fault_of("ncclCommInitRankConfig"); fault != kSuccess) return fault;
    std::lock_guard const lock(mutex());
    std::string const name(id.bytes, sizeof(id.bytes));
    auto& members = meetings()[name].members;
    *communicator = members.emplace_back(new ncclComm{name, rank, size}).get();
    return kInProgress;
}
int ncclCommFinalize(ncclComm*) { return fault_of("ncclCommFinalize"); }
int ncclCommDestroy(ncclComm* communicator) {
    std::lock_guard const lock(mutex());
    communicator->is_destroyed = true;
    return kSuccess;
}
int ncclCommAbort(ncclComm* communicator) {
    std::lock_guard const lock(mutex());
    communicator->is_aborted = true;
    return kSuccess;
}
int ncclCommGetAsyncError(ncclComm* communicator, int* state) {
    if (int const fault = fault_of("ncclCommGetAsyncError"); fault != kSuccess) return fault;
    if (int const fault = fault_of("asynchronous"); fault != kSuccess) return *state = fault, kSuccess;
    std::lock_guard const lock(mutex());
    *state = progress(*communicator);
    return kSuccess;
}
char const* ncclGetErrorString(int result) { return result == kRemoteError ? "remote error" : "a text"; }
char const* ncclGetLastError(ncclComm*) { return "the last error"; }
int ncclCommCount(ncclComm* communicator, int* size) {
    *size = communicator->size;
    return fault_of("ncclCommCount");
}
int ncclCommUserRank(ncclComm* communicator, int* rank) {
    *rank = communicator->rank;
    return fault_of("ncclCommUserRank");
}
int ncclGroupStart() {
    t_in_group = true;
    return fault_of("ncclGroupStart");
}
int ncclGroupEnd() {
    t_in_group = false;
    auto const group = std::exchange(t_group, {});
    if (int const fault = fault_of("ncclGroupEnd"); fault != kSuccess) return fault;
    std::map<ncclComm*, std::vector<Operation>> by_communicator;
    for (auto const& [communicator, operation] : group) by_communicator[communicator].push_back(operation);
    int result = kSuccess;
    for (auto const& [communicator, operations] : by_communicator) result = post(communicator, operations);
    return result;
}
int ncclSend(void const* memory, std::size_t count, int type, int peer, ncclComm* communicator, void*) {
    if (type != 0 || peer < 0 || peer >= communicator->size) return kInvalidArgument;
    if (int const fault = fault_of("ncclSend"); fault != kSuccess) return fault;
    return enqueue(communicator, {true, peer, const_cast<void*>(memory), count});
}
int ncclRecv(void* memory, std::size_t count, int type, int peer, ncclComm* communicator, void*) {
    if (type != 0 || peer < 0 || peer >= communicator->size) return kInvalidArgument;
    if (int const fault = fault_of("ncclRecv"); fault != kSuccess) return fault;
    return enqueue(communicator, {false, peer, memory, count});
}
int ncclAllGather(void const* from, void* to, std::size_t count, int type, ncclComm* communicator, void*) {
    if (type != 0) return kInvalidArgument;
    if (int const fault = fault_of("ncclAllGather"); fault != kSuccess) return fault;
    std::vector<Operation> operations;
    for (int peer = 0; peer < communicator->size; ++peer) {
        operations.push_back({true, peer, const_cast<void*>(from), count});
        operations.push_back({false, peer, static_cast<char*>(to) + static_cast<std::size_t>(peer) * count, count});
    }
    return post(communicator, operations);
}

}  // extern "C"
