// One attention in BFLOAT16 on the GPU for benchmarks: its description, its memory, and the time that its graph takes.
#pragma once

#include <cudnn_frontend/graph.h>

#include <cuda_runtime_api.h>

#include <map>
#include <memory>
#include <vector>

namespace bench {

namespace fe = cudnn_frontend;
using Dims = std::vector<std::int64_t>;

enum class Modifier { None, Softcap, Documents, Prefix };  // 8 documents of a length; a prefix of 512 tokens

struct Row {
    char const* name;
    fe::Rewrite_t rewrite;  // FEW_QUERIES is for forward, the others are for backward
    std::int64_t b, h_q, h_k, s_q, s_kv, d;
    bool rows_first = false;  // BSHD in place of BHSD
    bool causal = false;
    std::int64_t left = 0, right = -1;      // a band from 1 on
    std::int64_t workspace = 0;             // the limit, for slices
    bool lengths = false;                   // with the lengths of the sequences, all of them full
    std::int64_t kernel = 0, dilation = 1;  // neighborhood attention from 1 on, its heads behind its tokens
    bool is_forward_neighborhood = false;
    std::int64_t d_v = 0;  // the head dim of V and O from 1 on, where it is not d
    Modifier modifier = Modifier::None;
    bool bias = false, bias_gradient = false;  // a number for each score
    bool deterministic = false;                // gradients; those in slices always are
    Dims documents = {};  // the lengths of documents that are packed one after the other, in memory of s_q tokens

    bool is_forward() const { return rewrite == fe::Rewrite_t::FEW_QUERIES || is_forward_neighborhood; }
};

Row neighborhood_row(char const* name, bool is_forward, Dims const& sizes, std::int64_t kernel,
                     std::int64_t dilation = 1);  // sizes: batches, heads, tokens, head dim

enum Uid : std::int64_t {
    Q = 1,
    K,
    V,
    O,
    Stats,
    DO,
    DQ,
    DK,
    DV,
    QueryLengths,
    KeyLengths,
    ModifierOfQueries,
    ModifierOfKeys,
    Bias,
    DBias,
    QueryStarts,
    KeyStarts,
    StatsStarts
};
using Pack = std::map<std::int64_t, void*>;

// Prints the error, if there is one.
bool good(fe::error_t const& error, char const* where);
bool good(cudaError_t status, char const* call = "CUDA");

Dims dims_of(Row const& row, Uid uid);
Dims strides_of(Row const& row, Uid uid);
std::size_t bytes_of(Row const& row, Uid uid);

// Forward without Stats, or backward.
void describe(Row const& row, fe::graph::Graph& graph);
// Forward with Stats, or backward.
void describe_pass(Row const& row, bool is_backward, fe::graph::Graph& graph);

class Memory {
   public:
    explicit Memory(std::size_t bytes);
    ~Memory() { cudaFree(pointer_); }
    Memory(Memory const&) = delete;
    Memory& operator=(Memory const&) = delete;
    void* get() const { return pointer_; }

   private:
    void* pointer_ = nullptr;
};

// The memory of a row's tensors, with numbers in it.
class Buffers {
   public:
    explicit Buffers(Row const& row);
    Pack const& pack() const { return pack_; }

   private:
    void* add(Uid uid, std::size_t bytes);
    void add_lengths(Uid uid, std::int64_t count, std::int64_t length);
    void add_integers(Uid uid, std::vector<std::int32_t> const& all);
    void add_documents(Row const& row);

    std::map<std::int64_t, std::unique_ptr<Memory>> memory_;
    Pack pack_;
};

// The duration of a timing in milliseconds, and the number of timings, of which the median counts.
struct Care {
    float milliseconds = 5.0f;
    int times = 6;
};

class Gpu {
   public:
    Gpu();

    fe::Target target() const { return fe::Target::cuda(handle_); }
    cudnnHandle_t handle() const { return handle_; }
    cudaStream_t stream() const { return stream_; }
    // Computes O and Stats, from which backward starts.
    bool prepare_backward(Row const& row, Pack const& pack) const;
    // Microseconds of a run; 0 where it fails.
    double time(fe::graph::Graph& graph, Pack const& pack, Care const& care = {}) const;

   private:
    double time_runs(fe::graph::Graph& graph, Pack const& pack, void* workspace, int runs) const;

    cudaStream_t stream_ = nullptr;
    cudnnHandle_t handle_ = nullptr;
};

}  // namespace bench
