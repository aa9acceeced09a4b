#include "cuda/replay.h"

#include "core/process/logging.h"
#include "core/process/process_settings.h"
#include "cuda/cuda_graph.h"
#include "cuda/driver.h"
#include "cuda/driver_table.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string>
#include <utility>

namespace cudnn_frontend::cuda {
namespace {

// Recorded work may depend on how pointers are aligned, so replays run on memory that is aligned as in the recordings.
constexpr std::uint64_t kPointerAlignment = 16, kWorkspaceAlignment = 256;
// From then on the addresses in another workspace are computed without another recording.
constexpr int kVerifiedWorkspaces = 3;

error_t cannot(std::string const& why) {
    return {error_code_t::CUDA_API_FAILED, "the launch cannot be replayed: " + why};
}

std::uint64_t address_of(void const* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }
void* pointer_to(std::uint64_t address) { return std::bit_cast<void*>(address); }

// Pointers to no memory, since the recorded work is not run: far apart, and in each set at other distances.
std::vector<std::uint64_t> invented_addresses(std::size_t count, std::uint64_t set) {
    constexpr std::uint64_t kFirst = std::uint64_t{1} << 40, kApart = std::uint64_t{1} << 36, kShift = 0x1'0000'0110;
    std::vector<std::uint64_t> addresses;
    for (std::uint64_t i = 0; i < count; ++i) addresses.push_back(kFirst + i * kApart + set * (i + 1) * kShift);
    return addresses;
}

struct Recording {
    std::shared_ptr<CudaGraph const> graph;
    RecordedWork work;
};

Result<Recording> record_at(std::span<void* const> pointers, void* workspace, RecordLaunch const& record) {
    auto const graph = make_cuda_graph();
    if (graph.is_bad()) return graph.error();
    SDPA_GRAPH_TRY(record({pointers, workspace}, graph.value()->graph));
    Recording recording{graph.value(), {}};
    SDPA_GRAPH_TRY(read_work(graph.value()->graph).move_to(recording.work));
    return recording;
}

Result<Recording> record_at(std::span<std::uint64_t const> addresses, void* workspace, RecordLaunch const& record) {
    std::vector<void*> pointers;
    for (std::uint64_t const address : addresses) pointers.push_back(pointer_to(address));
    return record_at(pointers, workspace, record);
}

bool is_same(RecordedWork const& one, RecordedWork const& other) {
    return is_same_but_for_words(one, other) &&
           std::ranges::equal(one, other, {}, &RecordedNode::words, &RecordedNode::words);
}

void set_addresses(RecordedWork& work, std::span<AddressPlace const> places, std::span<std::uint64_t const> addresses) {
    for (AddressPlace const& at : places) work[at.node].words[at.word] = addresses[at.pointer] + at.offset;
}

}  // namespace

Result<std::vector<AddressPlace>> find_addresses(RecordedWork const& one, std::span<std::uint64_t const> of_one,
                                                 RecordedWork const& other, std::span<std::uint64_t const> of_other) {
    if (!is_same_but_for_words(one, other)) return cannot("its kernels depend on the pointers");
    std::vector<AddressPlace> places;
    for (std::size_t node = 0; node < one.size(); ++node) {
        for (std::size_t word = 0; word < one[node].words.size(); ++word) {
            std::uint64_t const value = one[node].words[word], moved_by = other[node].words[word] - value;
            if (moved_by == 0) continue;
            std::size_t pointer = 0;
            while (pointer < of_one.size() && of_other[pointer] - of_one[pointer] != moved_by) ++pointer;
            if (pointer == of_one.size()) return cannot("an argument depends on the pointers and is no address");
            places.push_back({node, word, pointer, value - of_one[pointer]});
        }
    }
    return places;
}

Replay::Replay(std::unique_ptr<WorkInstance> instance, std::vector<AddressPlace> places,
               std::vector<std::uint64_t> addresses)
    : instance_(std::move(instance)),
      places_(std::move(places)),
      addresses_(std::move(addresses)),
      is_stale_(instance_->work().size()) {}

Result<std::unique_ptr<Replay>> Replay::make(LaunchMemory const& memory, RecordLaunch const& record) {
    std::size_t const count = memory.pointers.size();
    auto const of_first = invented_addresses(count, 0), of_second = invented_addresses(count, 1);
    auto of_third = invented_addresses(count, 5);
    auto first = record_at(of_first, memory.workspace, record);
    if (first.is_bad()) return first.error();
    auto const second = record_at(of_second, memory.workspace, record);
    if (second.is_bad()) return second.error();
    auto places = find_addresses(first.value().work, of_first, second.value().work, of_second);
    if (places.is_bad()) return places.error();
    auto third = record_at(of_third, memory.workspace, record);
    if (third.is_bad()) return third.error();
    set_addresses(first.value().work, places.value(), of_third);
    if (!is_same(first.value().work, third.value().work)) return cannot("its arguments depend on the pointers");
    auto instance = WorkInstance::make(std::move(third.value().work));
    if (instance.is_bad()) return instance.error();
    of_third.push_back(address_of(memory.workspace));
    return std::unique_ptr<Replay>(
        new Replay(std::move(instance).value(), std::move(places).value(), std::move(of_third)));
}

void Replay::move_to(LaunchMemory const& memory, void* workspace) {
    std::ranges::transform(memory.pointers, addresses_.begin(), address_of);
    addresses_.back() = address_of(workspace);
    for (AddressPlace const& at : places_) {
        std::uint64_t const address = addresses_[at.pointer] + at.offset;
        if (instance_->work()[at.node].words[at.word] == address) continue;
        instance_->set_word(at.node, at.word, address);
        is_stale_[at.node] = true;
    }
}

error_t Replay::learn_workspace(LaunchMemory const& memory, RecordLaunch const& record) {
    std::uint64_t const before[] = {addresses_.back()}, now[] = {address_of(memory.workspace)};
    auto const recording = record_at(memory.pointers, memory.workspace, record);
    if (recording.is_bad()) return recording.error();
    if (verified_workspaces_ == 1) {
        move_to(memory, pointer_to(before[0]));
        auto const places = find_addresses(instance_->work(), before, recording.value().work, now);
        if (places.is_bad()) return places.error();
        for (AddressPlace at : places.value()) {
            at.pointer = addresses_.size() - 1;
            places_.push_back(at);
        }
    }
    move_to(memory, memory.workspace);
    ++verified_workspaces_;
    return is_same(instance_->work(), recording.value().work) ? error_t()
                                                              : cannot("its arguments depend on the workspace");
}

Result<bool> Replay::launch(LaunchMemory const& memory, CUstream stream, RecordLaunch const& record) {
    std::uint64_t const moved_by = address_of(memory.workspace) - addresses_.back();
    if (moved_by % kWorkspaceAlignment != 0) return false;
    for (void* const pointer : memory.pointers) {
        if (address_of(pointer) % kPointerAlignment != 0) return false;
    }
    if (moved_by != 0 && verified_workspaces_ < kVerifiedWorkspaces) SDPA_GRAPH_TRY(learn_workspace(memory, record));
    move_to(memory, memory.workspace);
    for (std::size_t node = 0; node < is_stale_.size(); ++node) {
        if (!is_stale_[node]) continue;
        SDPA_GRAPH_TRY(instance_->update(node));
        is_stale_[node] = false;
    }
    SDPA_GRAPH_TRY(instance_->launch(stream));
    return true;
}

struct KeptReplay::State {
    bool launch(LaunchMemory const& memory, CUstream on, RecordLaunch const& record);

    // Whether this launch may be a replay: the launches before it were enough, and on this stream.
    bool is_due(CUstream on);

    std::int64_t const first_replay = core::process::replay_after.get();  // below 0: there is none
    bool is_given_up = first_replay < 0;
    std::optional<CUstream> stream;
    std::int64_t launches = 0, launches_elsewhere = 0;
    std::unique_ptr<Replay> replay;
};

static bool is_in_context_of(CUstream stream) {
    CUcontext own = nullptr, current = nullptr;
    error_t const failure = ask("asking for the stream's context", [&](Driver const& cuda) {
        CUresult const result = cuda.context_of_stream(stream, &own);
        return result == CUDA_SUCCESS ? cuda.current_context(&current) : result;
    });
    return failure.is_good() && own == current;
}

bool KeptReplay::State::is_due(CUstream on) {
    if (is_given_up) return false;
    if (stream && *stream != on && ++launches_elsewhere <= first_replay) return false;
    stream = on;
    launches_elsewhere = 0;
    return replay != nullptr || launches++ >= first_replay;
}

bool KeptReplay::State::launch(LaunchMemory const& memory, CUstream on, RecordLaunch const& record) {
    if (!is_due(on)) return false;
    auto const is_captured = is_capturing(on);
    if (is_captured.is_bad() || is_captured.value()) return false;
    if (replay == nullptr && !is_in_context_of(on)) return false;  // the recording would be of another GPU
    error_t failure;
    if (replay == nullptr) failure = Replay::make(memory, record).move_to(replay);
    bool has_run = false;
    if (replay != nullptr) failure = replay->launch(memory, on, record).move_to(has_run);
    if (failure.is_good()) return has_run;
    core::log_line(failure.err_msg);
    is_given_up = true;
    replay.reset();
    return false;
}

KeptReplay::KeptReplay() : state_(new State) {}

KeptReplay::~KeptReplay() { delete state_.load(); }

bool KeptReplay::launch(LaunchMemory const& memory, CUstream stream, RecordLaunch const& record) {
    std::unique_ptr<State> state(state_.exchange(nullptr));
    if (state == nullptr) return false;
    bool const has_run = state->launch(memory, stream, record);
    state_ = state.release();
    return has_run;
}

}  // namespace cudnn_frontend::cuda
