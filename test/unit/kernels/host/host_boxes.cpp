#include "unit/kernels/host/host_boxes.h"

#include "unit/kernels/host/cuda_words.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

namespace sdpa_test {
namespace {

constexpr int kColumns = 64, kRowBytes = 2 * kColumns;
constexpr auto kPieceBytes = static_cast<int>(SharedMemoryOfProduct::kPieceBytes);
constexpr int kPieceColumns = kPieceBytes / 2;

struct EngineCopy {
    unsigned char* to;
    std::size_t bytes;
    std::function<void()> write;
};

struct BoxStore {
    HostTensorMap map;
    HostBoxPlace place;
    unsigned char const* from;
    unsigned writes_before;
    bool is_done, has_ended = false;
};

// A barrier's round.
struct RoundBytes {
    std::int64_t expected = 0, started = 0, copied = 0;
    std::vector<EngineCopy> pending;
};

struct BoxBlock {
    std::set<void const*> unknown;  // barriers that the copy engine does not know yet
    std::map<void const*, RoundBytes> rounds;
    std::vector<std::vector<BoxStore>> stores;  // of each thread
};

BoxBlock block;

// Pieces are permuted within their rows, as the copy engine finds them by their addresses.
template <class Byte>
Byte* piece_at(Byte* box, int row, int column) {
    Byte* const place = box + row * kRowBytes + column * 2;
    auto const row_of_eight = reinterpret_cast<std::uintptr_t>(place) / kRowBytes % 8;
    int const piece = column / kPieceColumns;
    return place + ((piece ^ static_cast<int>(row_of_eight)) - piece) * kPieceBytes;
}

// The tensor's memory at a place of the box, and how many of a piece's columns the tensor has there.
struct PieceOfTensor {
    unsigned char* start = nullptr;
    int columns = 0;
};

PieceOfTensor piece_of_tensor(HostTensorMap const& map, HostBoxPlace const& place, int row, int column) {
    std::int64_t const at[] = {place[0] + column, place[1] + row % map.box_rows, place[2] + row / map.box_rows,
                               place[3]};
    for (std::size_t i = 0; i < 4; ++i) {
        if (at[i] < 0 || at[i] >= map.dims[i]) return {};
    }
    std::int64_t const offset = 2 * at[0] + at[1] * map.strides[0] + at[2] * map.strides[1] + at[3] * map.strides[2];
    return {map.start + offset, static_cast<int>(std::min<std::int64_t>(kPieceColumns, map.dims[0] - at[0]))};
}

template <class Visit>
void for_each_piece(HostTensorMap const& map, HostBoxPlace const& place, Visit const& visit) {
    for (int row = 0; row < map.box_rows * map.box_heads; ++row) {
        for (int column = 0; column < kColumns; column += kPieceColumns) {
            visit(row, column, piece_of_tensor(map, place, row, column));
        }
    }
}

void check_box(void const* box) {
    if (reinterpret_cast<std::uintptr_t>(box) % kRowBytes != 0) throw std::logic_error("a box begins within a row");
}

void copy(EngineCopy const& made, void const* barrier) {
    made.write();
    note_engine_write(barrier, made.to, made.bytes);
    block.rounds[barrier].copied += static_cast<std::int64_t>(made.bytes);
}

void start_copy(EngineCopy made, void const* barrier) {
    if (block.unknown.contains(barrier)) throw std::logic_error("a copy counts for a barrier that was not shown to it");
    RoundBytes& round = block.rounds[barrier];
    round.started += static_cast<std::int64_t>(made.bytes);
    if (round.started > round.expected)
        throw std::logic_error("a copy has more bytes than its barrier's round expects");
    if (is_early()) return copy(made, barrier);
    std::memset(made.to, 0xff, made.bytes);
    note_engine_write(barrier, made.to, made.bytes);
    round.pending.push_back(std::move(made));
}

void copy_box(unsigned char* box, HostTensorMap const& map, HostBoxPlace const& place) {
    for_each_piece(map, place, [&](int row, int column, PieceOfTensor const& from) {
        unsigned char* const to = piece_at(box, row, column);
        std::memset(to, 0, kPieceBytes);
        if (from.start != nullptr) std::memcpy(to, from.start, 2 * static_cast<std::size_t>(from.columns));
    });
}

void store(BoxStore& made) {
    SharedMemoryOfProduct const memory(made.writes_before);
    for_each_piece(made.map, made.place, [&](int row, int column, PieceOfTensor const& to) {
        if (to.start == nullptr) return;
        unsigned char const* const from = piece_at(made.from, row, column);
        std::size_t const bytes = 2 * static_cast<std::size_t>(to.columns);
        if (memory.has(from)) std::memcpy(to.start, from, bytes);
        else std::memset(to.start, 0xff, bytes);
    });
    made.is_done = true;
}

std::vector<BoxStore>& stores_of_thread() { return block.stores.at(threadIdx.x); }

}  // namespace

void begin_box_block(unsigned threads) {
    block = BoxBlock();
    block.stores.resize(threads);
}

void finish_box_block() {
    for (auto const& stores : block.stores) {
        if (!stores.empty()) throw std::logic_error("a thread ends without a wait for its box stores");
    }
    for (auto const& [barrier, round] : block.rounds) {
        if (!round.pending.empty()) throw std::logic_error("a block ends without a wait for its box copies");
    }
}

void make_box_barrier(void const* barrier) { block.unknown.insert(barrier); }
void show_box_barriers() { block.unknown.clear(); }

void begin_box_round(void const* barrier) { block.rounds.erase(barrier); }
void expect_box_bytes(void const* barrier, int bytes) { block.rounds[barrier].expected += bytes; }
bool has_all_box_bytes(void const* barrier) {
    auto const round = block.rounds.find(barrier);
    return round == block.rounds.end() || round->second.copied == round->second.expected;
}

void start_box_copy(void* to, HostTensorMap const& map, HostBoxPlace const& place, void const* barrier) {
    check_box(to);
    auto* const box = static_cast<unsigned char*>(to);
    start_copy(
        {box, static_cast<std::size_t>(map.box_rows * map.box_heads * kRowBytes), [=] { copy_box(box, map, place); }},
        barrier);
}

void start_row_copy(void* to, void const* from, std::size_t bytes, void const* barrier) {
    auto const is_whole = [](void const* place) { return reinterpret_cast<std::uintptr_t>(place) % kPieceBytes == 0; };
    if (!is_whole(to) || !is_whole(from) || bytes % kPieceBytes != 0)
        throw std::logic_error("a copy of bytes in a row begins or ends within a piece");
    start_copy({static_cast<unsigned char*>(to), bytes, [=] { std::memcpy(to, from, bytes); }}, barrier);
}

void finish_box_copies(void const* barrier) {
    auto const round = block.rounds.find(barrier);
    if (round == block.rounds.end()) return;
    for (EngineCopy const& made : round->second.pending) copy(made, barrier);
    round->second.pending.clear();
}

void start_box_store(HostTensorMap const& map, HostBoxPlace const& place, void const* from) {
    check_box(from);
    BoxStore made{map, place, static_cast<unsigned char const*>(from), count_writes(), false};
    if (is_early()) store(made);
    stores_of_thread().push_back(made);
}

void end_box_stores() {
    for (BoxStore& made : stores_of_thread()) made.has_ended = true;
}

void finish_box_stores() {
    for (BoxStore& made : stores_of_thread()) {
        if (made.has_ended && !made.is_done) store(made);
    }
    std::erase_if(stores_of_thread(), [](BoxStore const& made) { return made.has_ended; });
}

}  // namespace sdpa_test
