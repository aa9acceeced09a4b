// Random graphs of a folder through build, run, storage and forgetting, on several threads, for some minutes; then
// whether memory, file descriptors and results stayed as they were.
//
//     soak folder [minutes [threads [seed]]]
//
// Small graphs of attention run on the CPU; all graphs are planned for an H100 where
// cuDNN is found.
#include "data/data.h"
#include "input.h"

#include <cudnn_frontend/runtime.h>

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <random>
#include <thread>

namespace {

namespace fe = cudnn_frontend;
using sdpa::Json;
using Clock = std::chrono::steady_clock;

struct Sample {
    std::int64_t kibibytes = 0, descriptors = 0;
};

// The process, while no other thread works and without the memory that the allocator only keeps.
Sample sample() {
    fe::runtime::forget_graphs();
    malloc_trim(0);
    Sample result;
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        if (word == "VmRSS:") status >> result.kibibytes;
    }
    for ([[maybe_unused]] auto const& file : std::filesystem::directory_iterator("/proc/self/fd")) ++result.descriptors;
    return result;
}

// A graph, and the results of its first run, which all others must repeat.
struct Subject {
    std::string name;
    Json document;
    bool runs = false;
    std::mutex mutex;
    std::optional<std::size_t> results;
};

constexpr std::int64_t kMostBytes = std::int64_t{1} << 25;  // of a graph that runs
constexpr std::int64_t kMostScores = std::int64_t{1} << 22;

bool is_small(Json const& document) {
    fe::graph::Graph graph;
    if (sdpa::graph_of(document, graph).is_bad() || graph.build(fe::Target::cpu(1)).is_bad()) return false;
    double bytes = static_cast<double>(graph.get_workspace_size());
    std::int64_t rows = 0, keys = 0;
    bool has_pages = false;
    for (auto const& [uid, memory] : sdpa::describe_tensors(document, graph)) {
        double tensor = static_cast<double>(sdpa::element_bits(memory.type)) / 8.0;
        for (std::int64_t const size : memory.dim) tensor *= static_cast<double>(size);
        bytes += tensor;
        has_pages = has_pages || memory.port.starts_with("page_table");
        if (memory.port == "Q") rows = memory.dim[0] * memory.dim[1] * (memory.dim.size() > 2 ? memory.dim[2] : 1);
        if (memory.port == "K" && memory.dim.size() > 2) keys = memory.dim[2];
    }
    // The dims of pages do not say how much work they are: these graphs are planned alone.
    bool const is_known = !has_pages && rows > 0 && keys > 0;
    return is_known && bytes <= static_cast<double>(kMostBytes) && rows <= kMostScores / keys;
}

std::size_t hash_of(sdpa::Memories const& memories) {
    std::size_t hash = 0;
    for (auto const& [uid, memory] : memories) {
        if (!memory.is_output) continue;
        std::string_view const bytes(reinterpret_cast<char const*>(memory.bytes.data()), memory.bytes.size());
        hash = hash * 31 + std::hash<std::string_view>()(bytes);
    }
    return hash;
}

class Soak {
   public:
    Soak(std::vector<std::string> const& files, int threads) : threads_(threads), paused_(threads + 1) {
        for (std::string const& file : files) {
            auto subject = std::make_unique<Subject>();
            subject->name = file;
            subject->document = sdpa::with_uids(sdpa::read_graph(file).document);
            subject->runs = is_small(subject->document);
            subjects_.push_back(std::move(subject));
        }
        plans_ = fe::runtime::cudnn_version() > 0;
        auto const small =
            std::count_if(subjects_.begin(), subjects_.end(), [](auto const& each) { return each->runs; });
        std::printf("%zu graphs, of which %lld run on the CPU and %s are planned for an H100\n", subjects_.size(),
                    static_cast<long long>(small), plans_ ? "all" : "none");
        std::fflush(stdout);
    }

    // Whether nothing grew and nothing was wrong.
    bool run(double minutes, std::uint64_t seed) {
        std::vector<std::thread> workers;
        for (int i = 0; i < threads_; ++i)
            workers.emplace_back([this, seed, i] { work(seed + static_cast<std::uint64_t>(i)); });
        constexpr int kParts = 10, kWarm = 3;  // after so many parts everything that stays is there
        std::vector<Sample> samples;
        auto const part = std::chrono::duration<double>(minutes * 60.0 / kParts);
        for (int i = 0; i < kParts; ++i) {
            std::this_thread::sleep_for(part);
            samples.push_back(pause(i + 1 == kParts));
            std::printf("%3d %%  %8.1f MiB  %4lld descriptors  %8lld runs  %8lld plans  %lld faults\n",
                        (i + 1) * 100 / kParts, static_cast<double>(samples.back().kibibytes) / 1024.0,
                        static_cast<long long>(samples.back().descriptors), static_cast<long long>(runs_),
                        static_cast<long long>(made_), static_cast<long long>(faults_));
            std::fflush(stdout);
        }
        for (std::thread& worker : workers) worker.join();
        return judge(samples[kWarm], samples.back());
    }

   private:
    void work(std::uint64_t seed) {
        std::mt19937_64 random(seed);
        for (bool is_over = false; !is_over;) {
            if (asks_.load() != 0) {
                is_over = asks_.load() == 2;
                paused_.arrive_and_wait();  // all have stopped
                paused_.arrive_and_wait();  // the sample is taken
                continue;
            }
            Subject& subject = *subjects_[random() % subjects_.size()];
            try {
                if (subject.runs && random() % 2 == 0) run_subject(subject);
                else if (plans_) plan_subject(subject);
            } catch (std::exception const& error) {
                fault(subject, error.what());
            }
            if (random() % 64 == 0) fe::runtime::forget_graphs();
        }
    }

    Sample pause(bool is_last) {
        asks_ = is_last ? 2 : 1;
        paused_.arrive_and_wait();
        Sample const result = sample();
        asks_ = 0;
        paused_.arrive_and_wait();
        return result;
    }

    void run_subject(Subject& subject) {
        fe::graph::Graph graph, loaded;
        sdpa::require(sdpa::graph_of(subject.document, graph));
        sdpa::require(graph.build(fe::Target::cpu(1)));
        sdpa::Memories memories = sdpa::make_data(subject.document, graph, {});
        check_run(subject, graph, memories);
        std::vector<std::uint8_t> bytes;
        sdpa::require(graph.serialize(bytes));
        sdpa::require(loaded.deserialize(nullptr, bytes));
        check_run(subject, loaded, memories);
        ++runs_;
    }

    void check_run(Subject& subject, fe::graph::Graph const& graph, sdpa::Memories& memories) {
        auto workspace = sdpa::make_workspace(graph.get_workspace_size());
        sdpa::require(graph.execute(sdpa::host_pack(memories), workspace.data()));
        std::size_t const hash = hash_of(memories);
        std::lock_guard const lock(subject.mutex);
        if (!subject.results) subject.results = hash;
        if (*subject.results != hash) fault(subject, "its results are not those of the first run");
    }

    // Graphs that the H100 has no plan for are refused, each time.
    void plan_subject(Subject& subject) {
        fe::graph::Graph graph;
        sdpa::require(sdpa::graph_of(subject.document, graph));
        if (graph.build(fe::Target::offline("h100")).is_bad()) return;
        std::vector<std::uint8_t> bytes;
        sdpa::require(graph.serialize(bytes));
        fe::Stored_plan plan;
        sdpa::require(fe::read_stored_plan({bytes.begin(), bytes.end()}, plan));
        ++made_;
    }

    void fault(Subject const& subject, char const* text) {
        if (++faults_ <= 20) std::fprintf(stderr, "%s: %s\n", subject.name.c_str(), text);
    }

    bool judge(Sample const& warm, Sample const& last) const {
        constexpr std::int64_t kMostGrowth = 8 * 1024;
        std::int64_t const growth = last.kibibytes - warm.kibibytes;
        bool const is_flat = growth <= kMostGrowth + warm.kibibytes / 50 && last.descriptors <= warm.descriptors;
        std::printf("%s: memory grew by %.1f MiB and descriptors by %lld after the first 40 %%, %lld faults\n",
                    is_flat && faults_ == 0 ? "good" : "bad", static_cast<double>(growth) / 1024.0,
                    static_cast<long long>(last.descriptors - warm.descriptors), static_cast<long long>(faults_));
        return is_flat && faults_ == 0;
    }

    int threads_;
    bool plans_ = false;
    std::vector<std::unique_ptr<Subject>> subjects_;
    std::atomic<int> asks_{0};  // 1: workers wait; 2: they end after it
    std::barrier<> paused_;
    std::atomic<std::int64_t> runs_{0}, made_{0}, faults_{0};
};

}  // namespace

int main(int count, char** arguments) {
    if (count < 2) {
        std::fprintf(stderr, "soak folder [minutes [threads [seed]]]\n");
        return 2;
    }
    double const minutes = count > 2 ? std::atof(arguments[2]) : 1.0;
    int const threads = count > 3 ? std::atoi(arguments[3]) : 4;
    std::uint64_t const seed = count > 4 ? std::strtoull(arguments[4], nullptr, 10) : 1;
    try {
        return Soak(sdpa::files_of({arguments[1]}), threads).run(minutes, seed) ? 0 : 1;
    } catch (std::exception const& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}
