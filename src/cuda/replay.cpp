#include "cuda/replay.h"

#include "core/process/logging.h"
#include "core/process/process_settings.h"
#include "cuda/cuda_graph.h"
#include "cuda/driver.h"
#include "cuda/driver_table.h"

#include <cudnn_frontend/logging.h>

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
// A replay moves to another stream after so many launches there in a row.
constexpr int kLaunchesToMove = 16;
// Failures of the driver, such as a lack of memory, may pass.
constexpr int kMostFailures = 3;

error_t cannot(std::string const& why) {
    return {error_code_t::GRAPH_NOT_SUPPORTED, "the launch cannot be replayed: " + why};
}

std::uint64_t address_of(void const* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }
void* pointer_to(std::uint64_t address) { return std::bit_cast<void*>(address); }

// Numbers without a pattern, the same in each process.
std::uint64_t mixed(std::uint64_t number) {
    number = (number + 1) * 0x9E37'79B9'7F4A'7C15;
    number = (number ^ (number >> 30)) * 0xBF58'476D'1CE4'E5B9;
    return number ^ (number >> 27);
}

// Pointers to no memory, since the recorded work is not run: far apart, with no alignment but the least one, and so
// that neither their distances nor sums of these are the same in two sets.
std::vector<std::uint64_t> invented_addresses(std::size_t count, std::uint64_t set) {
    constexpr std::uint64_t kFirst[] = {std::uint64_t{1} << 40, std::uint64_t{3} << 40, std::uint64_t{0x7000} << 32};
    constexpr std::uint64_t kApart = std::uint64_t{1} << 36, kSpread = std::uint64_t{1} << 30;
    std::vector<std::uint64_t> addresses;
    for (std::uint64_t i = 0; i < count; ++i) {
        std::uint64_t const shift = (mixed(set * 1000 + i) % kSpread * 2 + 1) * kPointerAlignment;
        addresses.push_back(kFirst[set] + i * kApart + shift);
    }
    return addresses;
}

bool are_aligned(std::span<void* const> pointers) {
    return std::ranges::all_of(pointers, [](void* pointer) { return address_of(pointer) % kPointerAlignment == 0; });
}

// Lets this thread record while another one captures a stream.
class RelaxedCaptures {
   public:
    RelaxedCaptures() { exchange(); }
    ~RelaxedCaptures() { exchange(); }
    RelaxedCaptures(RelaxedCaptures const&) = delete;
    RelaxedCaptures& operator=(RelaxedCaptures const&) = delete;

   private:
    void exchange() {
        if (auto const found = driver(); found.is_good()) found.value()->exchange_capture_mode(&mode_);
    }

    CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

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
    RelaxedCaptures const relaxed;
    std::size_t const count = memory.pointers.size();
    std::vector<std::uint64_t> const sets[] = {invented_addresses(count, 0), invented_addresses(count, 1),
                                               invented_addresses(count, 2)};
    auto first = record_at(sets[0], memory.workspace, record);
    if (first.is_bad()) return first.error();
    auto const second = record_at(sets[1], memory.workspace, record);
    if (second.is_bad()) return second.error();
    auto places = find_addresses(first.value().work, sets[0], second.value().work, sets[1]);
    if (places.is_bad()) return places.error();
    auto const third = record_at(sets[2], memory.workspace, record);
    if (third.is_bad()) return third.error();
    auto own = record_at(memory.pointers, memory.workspace, record);
    if (own.is_bad()) return own.error();
    std::vector<std::uint64_t> addresses(count);
    std::ranges::transform(memory.pointers, addresses.begin(), address_of);
    auto const is_predicted = [&](Recording const& recording, std::vector<std::uint64_t> const& at) {
        set_addresses(first.value().work, places.value(), at);
        return is_same(first.value().work, recording.work);
    };
    if (!is_predicted(third.value(), sets[2]) || !is_predicted(own.value(), addresses)) {
        return cannot("its arguments depend on the pointers");
    }
    auto instance = WorkInstance::make(std::move(own.value().work));
    if (instance.is_bad()) return instance.error();
    addresses.push_back(address_of(memory.workspace));
    return std::unique_ptr<Replay>(
        new Replay(std::move(instance).value(), std::move(places).value(), std::move(addresses)));
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

bool Replay::is_verified(std::uint64_t workspace) const {
    return verified_workspaces_ >= kVerifiedWorkspaces && (workspace - addresses_.back()) % verified_alignment_ == 0;
}

error_t Replay::learn_workspace(LaunchMemory const& memory, RecordLaunch const& record) {
    RelaxedCaptures const relaxed;
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
    std::uint64_t const moved_by = now[0] - before[0];
    verified_alignment_ = std::min(verified_alignment_, moved_by & (~moved_by + 1));
    return is_same(instance_->work(), recording.value().work) ? error_t()
                                                              : cannot("its arguments depend on the workspace");
}

Result<bool> Replay::launch(LaunchMemory const& memory, CUstream stream, RecordLaunch const& record) {
    std::uint64_t const workspace = address_of(memory.workspace), moved_by = workspace - addresses_.back();
    if (moved_by % kWorkspaceAlignment != 0 || !are_aligned(memory.pointers)) return false;
    if (moved_by != 0 && !is_verified(workspace)) SDPA_GRAPH_TRY(learn_workspace(memory, record));
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
    // The same for the stream's context, which has to be the thread's, and the one of the recording.
    bool is_in_context(CUstream on) const;
    Result<bool> try_launch(LaunchMemory const& memory, CUstream on, RecordLaunch const& record);
    void note(error_t const& failure);

    std::int64_t const first_replay = core::process::replay_after.get();  // below 0: there is none
    bool is_given_up = first_replay < 0;
    std::optional<CUstream> stream;
    std::int64_t launches = 0;
    int launches_elsewhere = 0, failures = 0;
    std::unique_ptr<Replay> replay;
};

bool KeptReplay::State::is_due(CUstream on) {
    if (is_given_up) return false;
    if (stream && *stream != on && ++launches_elsewhere <= kLaunchesToMove) return false;
    stream = on;
    launches_elsewhere = 0;
    return replay != nullptr || launches++ >= first_replay;
}

bool KeptReplay::State::is_in_context(CUstream on) const {
    CUcontext own = nullptr, current = nullptr;
    error_t const failure = ask("asking for the stream's context", [&](Driver const& cuda) {
        CUresult const result = cuda.context_of_stream(on, &own);
        return result == CUDA_SUCCESS ? cuda.current_context(&current) : result;
    });
    return failure.is_good() && own == current && (replay == nullptr || replay->context() == own);
}

Result<bool> KeptReplay::State::try_launch(LaunchMemory const& memory, CUstream on, RecordLaunch const& record) {
    auto const is_captured = is_capturing(on);
    if (is_captured.is_bad() || is_captured.value() || !is_in_context(on)) return false;
    if (replay == nullptr) {
        if (!are_aligned(memory.pointers)) return false;
        SDPA_GRAPH_TRY(Replay::make(memory, record).move_to(replay));
    }
    return replay->launch(memory, on, record);
}

void KeptReplay::State::note(error_t const& failure) {
    if (isLoggingEnabled()) core::log_line(failure.err_msg);
    replay.reset();
    launches = 0;
    is_given_up = failure.code == error_code_t::GRAPH_NOT_SUPPORTED || ++failures >= kMostFailures;
}

bool KeptReplay::State::launch(LaunchMemory const& memory, CUstream on, RecordLaunch const& record) {
    if (!is_due(on)) return false;
    auto const has_run = try_launch(memory, on, record);
    if (has_run.is_bad()) note(has_run.error());
    return has_run.is_good() && has_run.value();
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
