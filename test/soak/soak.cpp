// Random graphs of a folder through build, run, storage and forgetting, on several threads, for some minutes; then
// whether memory, file descriptors and results stayed as they were.
//
//     soak [--gpu] folder [minutes [threads [seed]]]
//
// Small graphs of attention run on the CPU; all graphs are planned for an H100 where cuDNN is found. With --gpu the
// graphs run and are planned on the GPU that is here.
#include "data/data.h"
#include "gpu_place.h"
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
    std::int64_t gpu_kibibytes = 0;  // of all processes
};

// The process, while no other thread works and without the memory that the allocator only keeps.
Sample sample(bool on_gpu) {
    fe::runtime::forget_graphs();
    malloc_trim(0);
    Sample result;
    if (on_gpu) result.gpu_kibibytes = sdpa_test::used_gpu_bytes() / 1024;
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
    bool runs = false, repeats_bits = false;
    std::mutex mutex;
    std::optional<std::size_t> results;
};

constexpr std::int64_t kMostBytes = std::int64_t{1} << 25;  // of a graph that runs
constexpr std::int64_t kMostScores = std::int64_t{1} << 22;

// The GPU's backward passes add in any order, unless they are asked for one.
bool repeats_bits(Json const& document, bool on_gpu) {
    auto const& nodes = document.at("nodes");
    return !on_gpu || std::ranges::none_of(nodes, [](Json const& node) {
        return node.at("tag").get<std::string>().ends_with("_BACKWARD");
    });
}

// The GPU runs any number of scores, of which the CPU could only do a few in a second.
bool is_small(Json const& document, bool on_gpu) {
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
    bool const has_few_scores = on_gpu || rows <= kMostScores / keys;
    return is_known && bytes <= static_cast<double>(kMostBytes) && has_few_scores;
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
    Soak(std::vector<std::string> const& files, int threads, bool on_gpu)
        : threads_(threads), on_gpu_(on_gpu), paused_(threads + 1) {
        make_place();  // refuses a machine without a GPU before threads need one
        for (std::string const& file : files) {
            auto subject = std::make_unique<Subject>();
            subject->name = file;
            subject->document = sdpa::with_uids(sdpa::read_graph(file).document);
            subject->runs = is_small(subject->document, on_gpu_);
            subject->repeats_bits = repeats_bits(subject->document, on_gpu_);
            subjects_.push_back(std::move(subject));
        }
        plans_ = fe::runtime::cudnn_version() > 0;
        auto const small =
            std::count_if(subjects_.begin(), subjects_.end(), [](auto const& each) { return each->runs; });
        std::printf("%zu graphs, of which %lld run on the %s and %s are planned for %s\n", subjects_.size(),
                    static_cast<long long>(small), on_gpu_ ? "GPU" : "CPU", plans_ ? "all" : "none",
                    on_gpu_ ? "it" : "an H100");
        std::fflush(stdout);
    }

    // Whether nothing grew and nothing was wrong.
    bool run(double minutes, std::uint64_t seed) {
        std::vector<std::thread> workers;
        for (int i = 0; i < threads_; ++i) {
            // A place is kept until the end: cuDNN 9.19 leaves about 22 KiB of the host's memory behind for each
            // handle.
            workers.emplace_back(
                [this, seed, i, place = make_place()] { work(seed + static_cast<std::uint64_t>(i), place.get()); });
        }
        constexpr int kParts = 10, kWarm = 3;  // after so many parts everything that stays is there
        std::vector<Sample> samples;
        auto const part = std::chrono::duration<double>(minutes * 60.0 / kParts);
        for (int i = 0; i < kParts; ++i) {
            std::this_thread::sleep_for(part);
            samples.push_back(pause(i + 1 == kParts));
            std::printf("%3d %%  %8.1f MiB", (i + 1) * 100 / kParts, mebibytes(samples.back().kibibytes));
            if (on_gpu_) std::printf("  %8.1f MiB of the GPU's", mebibytes(samples.back().gpu_kibibytes));
            std::printf("  %4lld descriptors  %8lld runs  %8lld plans  %lld faults\n",
                        static_cast<long long>(samples.back().descriptors), static_cast<long long>(runs_),
                        static_cast<long long>(made_), static_cast<long long>(faults_));
            std::fflush(stdout);
        }
        for (std::thread& worker : workers) worker.join();
        return judge(samples[kWarm], samples.back());
    }

   private:
    using Place = sdpa_test::GpuPlace const*;  // null: the CPU

    static double mebibytes(std::int64_t kibibytes) { return static_cast<double>(kibibytes) / 1024.0; }

    std::unique_ptr<sdpa_test::GpuPlace> make_place() const {
        return on_gpu_ ? std::make_unique<sdpa_test::GpuPlace>() : nullptr;
    }

    void work(std::uint64_t seed, Place place) {
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
                if (subject.runs && random() % 2 == 0) run_subject(subject, place);
                else if (plans_) plan_subject(subject, place);
            } catch (std::exception const& error) {
                fault(subject, error.what());
            }
            if (random() % 64 == 0) fe::runtime::forget_graphs();
        }
    }

    Sample pause(bool is_last) {
        asks_ = is_last ? 2 : 1;
        paused_.arrive_and_wait();
        Sample const result = sample(on_gpu_);
        asks_ = 0;
        paused_.arrive_and_wait();
        return result;
    }

    static fe::Target target_to_run(Place place) {
        return place == nullptr ? fe::Target::cpu(1) : fe::Target::cuda(place->handle());
    }

    void run_subject(Subject& subject, Place place) {
        fe::graph::Graph graph, loaded;
        sdpa::require(sdpa::graph_of(subject.document, graph));
        if (fe::error_t const error = graph.build(target_to_run(place)); error.is_bad()) {
            if (place == nullptr) sdpa::require(error);
            return;
        }
        sdpa::Data_options options;
        options.computes_forward = !on_gpu_;
        sdpa::Memories memories = sdpa::make_data(subject.document, graph, options);
        check_run(subject, graph, memories, place);
        std::vector<std::uint8_t> bytes;
        sdpa::require(graph.serialize(bytes));
        sdpa::require(loaded.deserialize(place == nullptr ? nullptr : place->handle(), bytes));
        check_run(subject, loaded, memories, place);
        ++runs_;
    }

    void check_run(Subject& subject, fe::graph::Graph const& graph, sdpa::Memories& memories, Place place) {
        if (place == nullptr) {
            auto workspace = sdpa::make_workspace(graph.get_workspace_size());
            sdpa::require(graph.execute(sdpa::host_pack(memories), workspace.data()));
        } else {
            place->run(graph, memories);
        }
        if (!subject.repeats_bits) return;
        std::size_t const hash = hash_of(memories);
        std::lock_guard const lock(subject.mutex);
        if (!subject.results) subject.results = hash;
        if (*subject.results != hash) fault(subject, "its results are not those of the first run");
    }

    // Graphs that the GPU has no plan for are refused, each time.
    void plan_subject(Subject& subject, Place place) {
        fe::graph::Graph graph;
        sdpa::require(sdpa::graph_of(subject.document, graph));
        if (graph.build(place == nullptr ? fe::Target::offline("h100") : target_to_run(place)).is_bad()) return;
        std::vector<std::uint8_t> bytes;
        sdpa::require(graph.serialize(bytes));
        fe::Stored_plan plan;
        sdpa::require(fe::read_stored_plan({bytes.begin(), bytes.end()}, plan));
        ++made_;
    }

    void fault(Subject const& subject, char const* text) {
        if (++faults_ <= 20) std::fprintf(stderr, "%s: %s\n", subject.name.c_str(), text);
    }

    static bool is_flat(std::int64_t warm, std::int64_t last) {
        constexpr std::int64_t kMostGrowth = 8 * 1024;
        return last - warm <= kMostGrowth + warm / 50;
    }

    bool judge(Sample const& warm, Sample const& last) const {
        bool const is_good = is_flat(warm.kibibytes, last.kibibytes) &&
                             is_flat(warm.gpu_kibibytes, last.gpu_kibibytes) && last.descriptors <= warm.descriptors &&
                             faults_ == 0;
        std::printf(
            "%s: memory grew by %.1f MiB, that of the GPU by %.1f MiB, and descriptors by %lld after the first "
            "40 %%, %lld faults\n",
            is_good ? "good" : "bad", mebibytes(last.kibibytes - warm.kibibytes),
            mebibytes(last.gpu_kibibytes - warm.gpu_kibibytes),
            static_cast<long long>(last.descriptors - warm.descriptors), static_cast<long long>(faults_));
        return is_good;
    }

    int threads_;
    bool on_gpu_, plans_ = false;
    std::vector<std::unique_ptr<Subject>> subjects_;
    std::atomic<int> asks_{0};  // 1: workers wait; 2: they end after it
    std::barrier<> paused_;
    std::atomic<std::int64_t> runs_{0}, made_{0}, faults_{0};
};

}  // namespace

int main(int count, char** arguments) {
    std::vector<std::string> words(arguments + 1, arguments + count);
    bool const on_gpu = !words.empty() && words.front() == "--gpu";
    if (on_gpu) words.erase(words.begin());
    if (words.empty()) {
        std::fprintf(stderr, "soak [--gpu] folder [minutes [threads [seed]]]\n");
        return 2;
    }
    double const minutes = words.size() > 1 ? std::atof(words[1].c_str()) : 1.0;
    int const threads = words.size() > 2 ? std::atoi(words[2].c_str()) : 4;
    std::uint64_t const seed = words.size() > 3 ? std::strtoull(words[3].c_str(), nullptr, 10) : 1;
    try {
        return Soak(sdpa::files_of({words[0]}), threads, on_gpu).run(minutes, seed) ? 0 : 1;
    } catch (std::exception const& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
}
