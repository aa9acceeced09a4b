// The tables of graphs of packed sequences, which the worker of hosts writes.
#include "rows/host_worker.h"
#include "support/catch.h"

#include <vector>

using namespace cudnn_frontend::rows;

namespace {

using Starts = std::vector<long long>;
using Lengths = std::vector<int>;

constexpr long long kUnwritten = -77;

// Tables with one list of starts, of queries unless it is said to be of keys.
struct Written {
    Lengths lengths_q, lengths_k;
    Starts starts;
};

Written write(Tables tables, Offsets offsets) {
    auto const slots = static_cast<std::size_t>(tables.slots);
    Written written{Lengths(slots + 1, kUnwritten), Lengths(slots + 1, kUnwritten), Starts(slots + 2, kUnwritten)};
    tables.lengths_q = written.lengths_q.data();
    tables.lengths_k = written.lengths_k.data();
    offsets.result = written.starts.data();
    tables.offsets[0] = offsets;
    tables.offset_count = 1;
    HostWorker const worker(cudnn_frontend::DataType_t::HALF, 2);
    CHECK(worker.run(Forward_start{{tables, {}}}).is_good());
    // Nothing behind the tables is written.
    CHECK(written.lengths_q.back() == kUnwritten);
    CHECK(written.lengths_k.back() == kUnwritten);
    CHECK(written.starts.back() == kUnwritten);
    written.lengths_q.pop_back();
    written.lengths_k.pop_back();
    written.starts.pop_back();
    return written;
}

// Three sequences of at most 10 queries and 20 keys.
Tables tables_of(long long slots, long long slots_of_sequence) {
    Tables tables{};
    tables.sequences.batches = 3;
    tables.sequences.queries = 10;
    tables.sequences.keys = 20;
    tables.slots = slots;
    tables.slots_of_sequence = slots_of_sequence;
    return tables;
}

}  // namespace

TEST_CASE("slots of padded sequences start where the sequences do, and those behind them are empty") {
    Written const written = write(tables_of(4, 1), {nullptr, 1000, 50, 0, 1, false, nullptr, 1, false});
    CHECK(written.lengths_q == Lengths{10, 10, 10, 0});
    CHECK(written.lengths_k == Lengths{20, 20, 20, 0});
    CHECK(written.starts == Starts{0, 1000, 2000, 3000, 3000});
}

TEST_CASE("slots of packed sequences start where their rows do") {
    int const totals_q[] = {2, 5, 5, 9}, totals_k[] = {0, 20, 21, 30};
    Tables tables = tables_of(4, 1);
    tables.sequences.totals_q = totals_q;
    tables.sequences.totals_k = totals_k;
    Written const of_q = write(tables, {nullptr, 0, 50, 0, 1, false, nullptr, 1, false});
    CHECK(of_q.lengths_q == Lengths{3, 0, 4, 0});
    CHECK(of_q.lengths_k == Lengths{20, 1, 9, 0});
    CHECK(of_q.starts == Starts{100, 250, 250, 450, 450});
    CHECK(write(tables, {nullptr, 0, 50, 0, 1, true, nullptr, 1, false}).starts == Starts{0, 1000, 1050, 1500, 1500});
}

TEST_CASE("lengths are those in use, cut to what sequences have") {
    int const used_q[] = {0, 11, 3}, used_k[] = {-1, 20, 7};
    Tables tables = tables_of(3, 1);
    tables.sequences.used_q = used_q;
    tables.sequences.used_k = used_k;
    Written const written = write(tables, {nullptr, 1000, 50, 0, 1, false, nullptr, 1, false});
    CHECK(written.lengths_q == Lengths{0, 10, 3});
    CHECK(written.lengths_k == Lengths{0, 20, 7});
}

TEST_CASE("each head of a sequence has a slot") {
    int const used_q[] = {4, 0, 6};
    Tables tables = tables_of(8, 2);
    tables.sequences.used_q = used_q;
    Written const written = write(tables, {nullptr, 1000, 50, 300, 1, false, nullptr, 1, false});
    CHECK(written.lengths_q == Lengths{4, 4, 0, 0, 6, 6, 0, 0});
    CHECK(written.lengths_k == Lengths{20, 20, 20, 20, 20, 20, 0, 0});
    CHECK(written.starts == Starts{0, 300, 1000, 1300, 2000, 2300, 3000, 3000, 3000});
}

TEST_CASE("slots of heads share the heads of keys") {
    Written const written = write(tables_of(16, 4), {nullptr, 1000, 50, 300, 2, true, nullptr, 1, false});
    CHECK(written.starts ==
          Starts{0, 0, 300, 300, 1000, 1000, 1300, 1300, 2000, 2000, 2300, 2300, 3000, 3000, 3000, 3000, 3000});
    CHECK(write(tables_of(12, 4), {nullptr, 1000, 50, 300, 4, true, nullptr, 1, false}).starts ==
          Starts{0, 0, 0, 0, 1000, 1000, 1000, 1000, 2000, 2000, 2000, 2000, 3000});
}

TEST_CASE("squares are apart from other sequences") {
    int const totals_q[] = {0, 3, 7, 9}, totals_k[] = {0, 3, 6, 8};
    int squares[4] = {-1, -1, -1, -1};
    Tables tables = tables_of(4, 1);
    tables.sequences.totals_q = totals_q;
    tables.sequences.totals_k = totals_k;
    tables.squares = squares;
    Written const written = write(tables, {nullptr, 0, 50, 0, 1, false, nullptr, 1, false});
    CHECK(written.lengths_q == Lengths{0, 4, 0, 0});
    CHECK(written.lengths_k == Lengths{0, 3, 0, 0});
    CHECK(std::vector<int>(squares, squares + 4) == Lengths{3, 0, 2, 0});
}

TEST_CASE("slots of sequences whose starts are given start there, and those behind them where the last one ends") {
    int const starts[] = {0, 3, 3, 8};
    std::int64_t const wide_starts[] = {0, 3, 3, 8};
    for (bool const is_wide : {false, true}) {
        void const* const given = is_wide ? static_cast<void const*>(wide_starts) : starts;
        Written const written = write(tables_of(4, 1), {nullptr, 1000, 50, 0, 1, false, given, 16, is_wide});
        CHECK(written.starts == Starts{0, 48, 48, 128, 128});
    }
}
