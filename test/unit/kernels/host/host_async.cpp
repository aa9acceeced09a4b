#include "host_async.h"

#include "cuda_words.h"
#include "host_products.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <utility>

namespace sdpa_test {
namespace {

using Piece = SharedMemoryOfProduct::Piece;
constexpr std::size_t kPieceBytes = SharedMemoryOfProduct::kPieceBytes;
constexpr unsigned kMostWarps = 32, kMostBarriers = 32;
// Warps, and the copy engine for each barrier, write to shared memory.
constexpr unsigned kMostWriters = kMostWarps + kMostBarriers;
constexpr unsigned kPoison = 0x7fffdead;  // NaN

// The time up to which the writes of each writer are known, and shown to products.
struct KnownWrites {
    std::array<unsigned, kMostWriters> made{}, shown{};
    std::set<void const*> maps{};  // that copies may read

    void join(KnownWrites const& other) {
        for (unsigned writer = 0; writer < kMostWriters; ++writer) {
            made[writer] = std::max(made[writer], other.made[writer]);
            shown[writer] = std::max(shown[writer], other.shown[writer]);
        }
        maps.insert(other.maps.begin(), other.maps.end());
    }
};

// The copy engine's writes for a barrier.
struct EngineWrites {
    unsigned writer, time = 0;
};

struct AsyncCopy {
    void* to;
    void const* from;
    std::size_t bytes;
};

// Sums that products which go on will write, and their value so far.
struct PendingSums {
    float (*registers)[4];
    int eighths;
    ThreadSums values;
    unsigned last_group;
};

struct PendingProduct {
    AsyncProduct product;
    unsigned group;
};

struct ThreadWork {
    std::vector<AsyncCopy> copies;
    std::vector<PendingProduct> products;
    std::vector<PendingSums> sums;
    unsigned group = 0;  // that products are started in
    bool has_begun = false, is_early = false;
};

struct AsyncBlock {
    std::minstd_rand random;
    unsigned char const* shared_memory = nullptr;
    unsigned writes = 0;
    std::vector<Piece> pieces;
    std::array<KnownWrites, kMostWarps> warps;
    std::map<std::pair<void const*, unsigned>, KnownWrites> passed_on;  // by barrier and parity of the round
    std::map<void const*, EngineWrites> engine;                         // by barrier
    std::vector<ThreadWork> threads;
};

AsyncBlock block;
std::set<void const*> stored_maps;

unsigned warp_index() { return threadIdx.x / 32; }
ThreadWork& work_of_thread() { return block.threads[threadIdx.x]; }

// --- Waits and fences

struct WaitPlace {
    char const* call;
    std::source_location where;

    bool is(std::source_location const& other) const {
        return where.line() == other.line() && where.column() == other.column() &&
               std::strcmp(where.file_name(), other.file_name()) == 0;
    }
    std::string name() const {
        std::string const file = where.file_name();
        return std::string(call) + " in " + file.substr(file.rfind('/') + 1) + ":" + std::to_string(where.line());
    }
};

struct WaitPlaces {
    std::vector<WaitPlace> reached;
    std::vector<bool> are_left_out;
    std::string left_out;
};

WaitPlaces places;

// --- Products

// For each 8 columns there are registers of two in the first row, and then of two in the other one.
float& value_of(ThreadSums& sums, int eighth, int place) { return sums.rows[place / 2][2 * eighth + place % 2]; }

void add(AsyncProduct const& product, PendingSums& sums) {
    ProductFactors factors;
    product.load(product, factors);
    if (!product.adds) sums.values = {};
    add_products(factors, 2 * product.eighths, sums.values);
}

PendingSums& sums_of(ThreadWork& work, AsyncProduct const& product) {
    for (PendingSums& sums : work.sums) {
        if (sums.registers != product.sums) continue;
        if (sums.eighths != product.eighths) throw std::logic_error("products of two widths have the same sums");
        return sums;
    }
    PendingSums& sums = work.sums.emplace_back(PendingSums{product.sums, product.eighths, {}, 0});
    for (int i = 0; i < product.eighths; ++i) {
        for (int j = 0; j < 4; ++j) {
            if (product.adds) value_of(sums.values, i, j) = product.sums[i][j];
            product.sums[i][j] = std::bit_cast<float>(kPoison);
        }
    }
    return sums;
}

// Where a wait is left out, the registers may be out of scope by now.
__attribute__((no_sanitize("address"))) void check_registers(AsyncProduct const& product) {
    if (product.registers == nullptr) return;
    for (unsigned i = 0; i < product.held.size(); ++i) {
        if (product.registers[i] != product.held[i]) {
            throw std::logic_error("registers of a factor were written before the wait for their product");
        }
    }
}

void write_back(PendingSums& sums) {
    for (int i = 0; i < sums.eighths; ++i) {
        for (int j = 0; j < 4; ++j) {
            if (std::bit_cast<unsigned>(sums.registers[i][j]) != kPoison) {
                throw std::logic_error("registers of sums were written before the wait for their products");
            }
            sums.registers[i][j] = value_of(sums.values, i, j);
        }
    }
}

}  // namespace

void begin_async_block(unsigned threads, unsigned seed, unsigned char const* shared_memory, std::size_t bytes) {
    if (threads > 32 * kMostWarps) throw std::logic_error("too many threads in a block");
    block.random.seed(seed + 1);
    block.shared_memory = shared_memory;
    block.writes = 0;
    block.pieces.assign((bytes + kPieceBytes - 1) / kPieceBytes, Piece());
    // Each warp's first writes have the time 1, which nobody knows of yet.
    for (unsigned warp = 0; warp < kMostWarps; ++warp) {
        block.warps[warp] = KnownWrites();
        block.warps[warp].made[warp] = 1;
    }
    block.passed_on.clear();
    block.engine.clear();
    block.threads.resize(threads);
    for (ThreadWork& work : block.threads) {
        work.copies.clear();
        work.products.clear();
        work.sums.clear();
        work.group = 0;
        work.has_begun = work.is_early = false;
    }
}

std::vector<std::string> waits_reached() {
    std::vector<std::string> names;
    for (WaitPlace const& place : places.reached) names.push_back(place.name());
    return names;
}

void forget_waits() {
    places.reached.clear();
    places.are_left_out.clear();
}

void leave_out_wait(std::string name) {
    forget_waits();
    places.left_out = std::move(name);
}

bool is_left_out(char const* call, std::source_location const& where) {
    for (std::size_t i = 0; i < places.reached.size(); ++i) {
        if (places.reached[i].is(where)) return places.are_left_out[i];
    }
    places.reached.push_back({call, where});
    places.are_left_out.push_back(places.reached.back().name() == places.left_out);
    return places.are_left_out.back();
}

// The lowest bit of a linear congruential generator is poor.
bool is_early() { return block.random() / 2 % 2 == 0; }

// --- Shared memory

namespace {

std::size_t place_of(void const* address) {
    return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(address) -
                                    reinterpret_cast<std::uintptr_t>(block.shared_memory));
}

void note_write_by(unsigned writer, unsigned time, void const* to, std::size_t bytes) {
    std::size_t const first = place_of(to);
    if (first / kPieceBytes >= block.pieces.size()) return;
    Piece const piece{writer, time, ++block.writes};
    for (std::size_t i = first / kPieceBytes; i <= (first + bytes - 1) / kPieceBytes; ++i) block.pieces[i] = piece;
}

}  // namespace

void note_write(void const* to, std::size_t bytes) {
    note_write_by(warp_index(), block.warps[warp_index()].made[warp_index()], to, bytes);
}

bool knows_write(void const* to) {
    Piece const& piece = block.pieces.at(place_of(to) / kPieceBytes);
    return piece.time <= block.warps[warp_index()].made[piece.writer];
}

void note_engine_write(void const* barrier, void const* to, std::size_t bytes) {
    auto const [known, is_new] =
        block.engine.try_emplace(barrier, EngineWrites{kMostWarps + static_cast<unsigned>(block.engine.size())});
    if (is_new && block.engine.size() > kMostBarriers) throw std::logic_error("copies count for too many barriers");
    note_write_by(known->second.writer, ++known->second.time, to, bytes);
}

void pass_on_engine_writes(void const* barrier, unsigned round) {
    auto const known = block.engine.find(barrier);
    if (known == block.engine.end()) return;
    KnownWrites& all = block.passed_on[{barrier, round % 2}];
    all.made[known->second.writer] = all.shown[known->second.writer] = known->second.time;
}

unsigned count_writes() { return block.writes; }

// Later writes have a later time.
void show_writes_to_products() {
    KnownWrites& warp = block.warps[warp_index()];
    warp.shown = warp.made;
    ++warp.made[warp_index()];
}

void pass_on_writes(void const* barrier, unsigned round) {
    KnownWrites& warp = block.warps[warp_index()];
    block.passed_on[{barrier, round % 2}].join(warp);
    ++warp.made[warp_index()];
}

void learn_of_writes(void const* barrier, unsigned round) {
    block.warps[warp_index()].join(block.passed_on[{barrier, round % 2}]);
}

void note_stored_map(void const* map) { stored_maps.insert(map); }
void forget_stored_maps() { stored_maps.clear(); }
void show_map_to_copies(void const* map) { block.warps[warp_index()].maps.insert(map); }

void check_map_of_copy(void const* map) {
    if (stored_maps.contains(map) && !block.warps[warp_index()].maps.contains(map))
        throw std::logic_error("the copy engine reads a tensor map from memory without a fence");
}

SharedMemoryOfProduct::SharedMemoryOfProduct(unsigned writes_before)
    : start_(block.shared_memory),
      pieces_(block.pieces.data()),
      shown_(block.warps[warp_index()].shown.data()),
      writes_before_(writes_before) {}

// --- Copies

namespace {

// An address that no thread wrote to shared memory is -1, to which kernels add less than a page.
void check_address(void const* from) {
    constexpr std::uintptr_t kPage = 4096;
    if (from != nullptr && reinterpret_cast<std::uintptr_t>(from) + 1 < kPage) {
        throw std::logic_error("a copy starts from an address that no thread wrote");
    }
}

void copy(AsyncCopy const& made) {
    if (made.from != nullptr) std::memcpy(made.to, made.from, made.bytes);
    else std::memset(made.to, 0, made.bytes);
    note_write(made.to, made.bytes);
}

}  // namespace

void start_async_copy(void* to, void const* from, std::size_t bytes) {
    check_address(from);
    if (is_early()) return copy({to, from, bytes});
    std::memset(to, 0xff, bytes);
    note_write(to, bytes);
    work_of_thread().copies.push_back({to, from, bytes});
}

void finish_async_copies() {
    auto& copies = work_of_thread().copies;
    for (AsyncCopy const& made : copies) copy(made);
    copies.clear();
}

// --- Products

void begin_async_products() {
    ThreadWork& work = work_of_thread();
    work.has_begun = true;
    work.is_early = work.products.empty() && is_early();
}

void start_async_product(AsyncProduct product) {
    ThreadWork& work = work_of_thread();
    if (!work.has_begun) throw std::logic_error("a group of products starts without begin_products()");
    PendingSums& sums = sums_of(work, product);
    sums.last_group = work.group;
    product.writes_before = block.writes;
    if (work.is_early) add(product, sums);
    else work.products.push_back({product, work.group});
}

void end_async_products() {
    ThreadWork& work = work_of_thread();
    work.has_begun = false;
    ++work.group;
}

void finish_async_products(unsigned all_but) {
    ThreadWork& work = work_of_thread();
    auto const has_ended = [&](unsigned group) { return group + all_but < work.group; };
    for (PendingProduct const& pending : work.products) {
        if (!has_ended(pending.group)) continue;
        check_registers(pending.product);
        add(pending.product, sums_of(work, pending.product));
    }
    for (PendingSums& sums : work.sums) {
        if (has_ended(sums.last_group)) write_back(sums);
    }
    std::erase_if(work.products, [&](PendingProduct const& pending) { return has_ended(pending.group); });
    std::erase_if(work.sums, [&](PendingSums const& sums) { return has_ended(sums.last_group); });
}

}  // namespace sdpa_test
