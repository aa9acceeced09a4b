// Copies to shared memory and products of warpgroups, on the host. CUDA threads start them and have to wait for them.
// Copies of whole boxes are in host_boxes.h.
// Each is done at its start or at the wait, as a seed decides. A copy that is done late has NaN in its place until
// then, and sums of products are always NaN until the wait. Products see a write to shared memory only after a fence.
#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <source_location>
#include <string>
#include <vector>

namespace sdpa_test {

// Begins a block of that many threads with shared memory in which nothing has been written. The seed decides when
// copies and products are done.
void begin_async_block(unsigned threads, unsigned seed, unsigned char const* shared_memory, std::size_t bytes);

// --- Waits and fences in the kernels' sources

// The calls that have been reached since forget_waits(), such as "wait_for_copies() in neighborhood_tile.cuh:195".
std::vector<std::string> waits_reached();
void forget_waits();
// Makes that call do nothing from now on; with an empty name no call is left out any more.
void leave_out_wait(std::string name);
// Whether the call that is here now is the one to be left out.
bool is_left_out(char const* call, std::source_location const& where);

// Whether the next copy or product is done at its start.
bool is_early();

// --- Shared memory

// The thread that runs has written there. Memory that is not shared does not count.
void note_write(void const* to, std::size_t bytes);
// Whether the thread's warp made the last write there, or has waited for it.
bool knows_write(void const* to);
// The fence: products see all writes that the thread's warp has made or has waited for.
void show_writes_to_products();
// A warp that arrives at a barrier passes on which writes it knows of, and which of them are shown to products; a warp
// that waited learns it. Two rounds of a barrier may overlap.
void pass_on_writes(void const* barrier, unsigned round);
void learn_of_writes(void const* barrier, unsigned round);

// A tensor map in memory, which a kernel before has stored: the copy engine may read it for a warp that has executed a
// fence for it, or has waited for one that has.
void note_stored_map(void const* map);
void forget_stored_maps();
void show_map_to_copies(void const* map);
// Throws std::logic_error where it is a stored one that the running warp's copies must not read.
void check_map_of_copy(void const* map);

// The copy engine has written there, in a copy that counts for a barrier. Products see what it wrote once their warp
// has waited for a round that it passed on.
void note_engine_write(void const* barrier, void const* to, std::size_t bytes);
void pass_on_engine_writes(void const* barrier, unsigned round);
// The number of writes so far.
unsigned count_writes();

// Shared memory as a product of the running thread sees it, or a store of its by the copy engine, which was started
// after so many writes.
class SharedMemoryOfProduct {
   public:
    explicit SharedMemoryOfProduct(unsigned writes_before);
    // Whether the last write to these 16 bytes was shown to the thread's products, and was before the product.
    bool has(unsigned char const* address) const {
        Piece const& piece = pieces_[static_cast<std::size_t>(address - start_) / kPieceBytes];
        return piece.time <= shown_[piece.writer] && piece.number <= writes_before_;
    }

    static constexpr std::size_t kPieceBytes = 16;
    // The last write: the warp that made it or one for the copy engine, its time by the writer's count, and its number
    // among all writes.
    struct Piece {
        unsigned writer = 0, time = std::numeric_limits<unsigned>::max(), number = 0;
    };

   private:
    unsigned char const* start_;
    Piece const* pieces_;
    unsigned const* shown_;  // for each writer, the time up to which its writes are shown
    unsigned writes_before_;
};

// --- Copies

// Zeros where `from` is null.
void start_async_copy(void* to, void const* from, std::size_t bytes);
void finish_async_copies();

// --- Products

inline constexpr int kMostProductColumns = 256;

// A thread has two rows of a product, and in each of them 2 of every 8 columns.
inline constexpr int kMostThreadColumns = kMostProductColumns / 4;

// The factors of a thread's part of a product of 64 x 16 and 16 x n elements: its rows, and its columns for each k.
struct ProductFactors {
    float rows[2][16], columns[16][kMostThreadColumns];
};
struct ThreadSums {
    float rows[2][kMostThreadColumns];
};

struct AsyncProduct {
    float (*sums)[4];  // for each 8 columns
    int eighths;
    bool adds;
    void (*load)(AsyncProduct const&, ProductFactors&);
    unsigned char const *a, *b;  // the factors in shared memory
    int panel_bytes;             // from a panel of b to the next one
    // The registers of a factor that is not in memory, their words at the start, and the thread's rows.
    unsigned const* registers = nullptr;
    std::array<unsigned, 4> held{};
    float rows[2][16] = {};
    unsigned writes_before = 0;  // filled in at the start
};

void begin_async_products();
void start_async_product(AsyncProduct product);
void end_async_products();
// Waits for all groups of products but the last ones.
void finish_async_products(unsigned all_but);

}  // namespace sdpa_test
