// Zeros in rows that belong to no sequence, which the worker of hosts writes.
#include "rows/host_worker.h"
#include "support/catch.h"

#include <algorithm>
#include <limits>
#include <vector>

using namespace cudnn_frontend::rows;
using cudnn_frontend::DataType_t;

namespace {

// Memory of elements of so many bytes, 0xff where nothing wrote.
class Elements {
   public:
    Elements(long long count, int bytes) : memory_(static_cast<std::size_t>(count * bytes), 0xff), bytes_(bytes) {}

    void* data() { return memory_.data(); }
    int bytes() const { return bytes_; }
    bool is_zero(long long element) const { return are_all(element, 0); }
    bool is_untouched(long long element) const { return are_all(element, 0xff); }

   private:
    bool are_all(long long element, unsigned char value) const {
        auto const first = memory_.begin() + element * bytes_;
        return std::all_of(first, first + bytes_, [&](unsigned char byte) { return byte == value; });
    }

    std::vector<unsigned char> memory_;
    int bytes_;
};

void run(Padding const& padding) { CHECK(HostWorker(DataType_t::HALF, 2).run(padding).is_good()); }

// Whether exactly the rows in the list are 0, of a tensor of rows of two heads of 11 elements with a gap of 2.
struct Packed_tensor {
    static constexpr long long kRows = 12, kHeads = 2, kWidth = 11, kByHead = 13, kByRow = 2 * kByHead;

    explicit Packed_tensor(int bytes) : elements(kRows * kByRow, bytes) {}

    Padding::PaddedTensor tensor(bool is_of_keys) {
        return {{elements.data(), 0, kByRow, 0, kByHead}, kRows, kHeads, kWidth, is_of_keys, elements.bytes(), false};
    }
    bool has_zeros_in(std::vector<long long> const& rows) const {
        for (long long i = 0; i < kRows * kByRow; ++i) {
            bool const is_of_row = i % kByHead < kWidth && std::ranges::count(rows, i / kByRow) > 0;
            if (!(is_of_row ? elements.is_zero(i) : elements.is_untouched(i))) return false;
        }
        return true;
    }

    Elements elements;
};

}  // namespace

TEST_CASE("rows of packed tensors that belong to no sequence become 0, for each size of elements") {
    int const totals_q[] = {2, 5, 5, 9}, totals_k[] = {0, 4, 4, 12};
    for (int const bytes : {1, 2, 4, 8}) {
        Packed_tensor of_q(bytes), of_k(bytes);
        Padding padding{};
        padding.sequences.totals_q = totals_q;
        padding.sequences.totals_k = totals_k;
        padding.sequences.batches = 3;
        padding.sequences.queries = padding.sequences.keys = 10;
        padding.tensors[0] = of_q.tensor(false);
        padding.tensors[1] = of_k.tensor(true);
        padding.tensor_count = 2;
        run(padding);
        CHECK(of_q.has_zeros_in({0, 1, 9, 10, 11}));
        CHECK(of_k.has_zeros_in({}));
    }
}

TEST_CASE("rows of packed sequences behind the longest length become 0") {
    int const totals[] = {0, 5, 12};
    Packed_tensor of_q(2);
    Padding padding{};
    padding.sequences.totals_q = totals;
    padding.sequences.batches = 2;
    padding.sequences.queries = 4;
    padding.sequences.keys = 1;
    padding.tensors[0] = of_q.tensor(false);
    padding.tensor_count = 1;
    run(padding);
    CHECK(of_q.has_zeros_in({4, 9, 10, 11}));
}

TEST_CASE("rows of padded tensors behind the lengths become 0") {
    int const used[] = {3, 0, 4};
    constexpr long long kRows = 4, kWidth = 8;
    Elements elements(3 * kRows * kWidth, 2);
    Padding padding{};
    padding.sequences.used_k = used;
    padding.sequences.batches = 3;
    padding.sequences.keys = kRows;
    padding.sequences.queries = 1;
    padding.tensors[0] = {{elements.data(), kRows * kWidth, 0, kWidth, kWidth}, 3 * kRows, 1, kWidth, true, 2, false};
    padding.tensor_count = 1;
    run(padding);
    for (long long i = 0; i < 3 * kRows * kWidth; ++i) {
        bool const is_outside = i / kWidth % kRows >= used[i / kWidth / kRows];
        CHECK((is_outside ? elements.is_zero(i) : elements.is_untouched(i)));
    }
}

TEST_CASE("tensors without padding are left alone") {
    Padding padding{};
    CHECK(padding.threads() == 0);
    Packed_tensor of_q(2);
    int const totals[] = {0, 12};
    padding.sequences.totals_q = totals;
    padding.sequences.batches = 1;
    padding.sequences.queries = 12;
    padding.sequences.keys = 1;
    padding.tensors[0] = of_q.tensor(false);
    padding.tensor_count = 1;
    run(padding);
    CHECK(of_q.has_zeros_in({}));
}

TEST_CASE("log-sum-exps behind the lengths become minus infinity, or the sink of the head") {
    int const used[] = {1, 2};
    float const sinks[] = {0.5f, -3.0f};
    for (bool const has_sink : {false, true}) {
        std::vector<float> sums(8, 7.0f);  // {2 sequences, 2 heads, 2 rows}
        Padding padding{};
        padding.sequences.used_q = used;
        padding.sequences.batches = padding.sequences.queries = 2;
        padding.sequences.keys = 1;
        padding.tensors[0] = {{sums.data(), 4, 0, 1, 2}, 4, 2, 1, false, 4, true};
        padding.tensor_count = 1;
        padding.sink = has_sink ? reinterpret_cast<unsigned const*>(sinks) : nullptr;
        run(padding);
        for (int i = 0; i < 8; ++i) {
            float const outside = has_sink ? sinks[i / 2 % 2] : -std::numeric_limits<float>::infinity();
            CHECK(sums[static_cast<std::size_t>(i)] == (i < 4 && i % 2 == 1 ? outside : 7.0f));
        }
    }
}

TEST_CASE("queries of sequences without keys, and keys of those without queries, become 0") {
    int const used_q[] = {2, 0}, used_k[] = {0, 2};
    constexpr long long kRows = 2, kWidth = 4;
    for (bool const is_of_keys : {false, true}) {
        Elements elements(2 * kRows * kWidth, 2);
        Padding padding{};
        padding.sequences.used_q = used_q;
        padding.sequences.used_k = used_k;
        padding.sequences.batches = 2;
        padding.sequences.queries = padding.sequences.keys = kRows;
        padding.tensors[0] = {
            {elements.data(), kRows * kWidth, 0, kWidth, kWidth}, 2 * kRows, 1, kWidth, is_of_keys, 2, false};
        padding.tensor_count = 1;
        run(padding);
        for (long long i = 0; i < 2 * kRows * kWidth; ++i) CHECK(elements.is_zero(i));
    }
}
