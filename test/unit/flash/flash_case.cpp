#include "flash_case.h"

#include "flash/runs/runs.h"
#include "formula.h"
#include "gpu_call.h"
#include "rows/host_worker.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

namespace flash_test {
namespace {

namespace flash = sdpa_graph::flash;
using sdpa_graph::flash::Optional_tensor;

constexpr float kScale = 0.4f;

// The data of a case. q, k and v keep the memory that their views show.
struct Data {
    Buffer q, k, v, dout, totals_q, totals_k, used, table, slopes, generator, softmax_d, log_sums_by_row;
    std::vector<std::int64_t> starts_q{0}, starts_k{0};
    std::vector<std::int32_t> blocks;  // of all sequences, as many for each
    std::int64_t columns = 0, most_queries = 0, most_keys = 0;
};

std::int64_t longest(Case const& c, std::int64_t Sequence::*length) {
    std::int64_t most = 0;
    for (Sequence const& sequence : c.sequences) most = std::max(most, sequence.*length);
    return most;
}

Dims strides_of(Case const& c, Dims const& dim) {
    std::int64_t const heads = c.is_interleaved ? c.heads + 2 * c.key_heads : dim[dim.size() - 2];
    Dims stride = sdpa_graph::row_major(dim);
    for (std::size_t d = 0; d + 2 < dim.size(); ++d) stride[d] = stride[d] / dim[dim.size() - 2] * heads;
    return stride;
}

Buffer tensor(Case const& c, sdpa_test::Random& random, std::int64_t rows, std::int64_t heads) {
    auto const batches = static_cast<std::int64_t>(c.sequences.size());
    Dims const dim = c.is_packed ? Dims{rows, heads, c.width} : Dims{batches, rows / batches, heads, c.width};
    return Buffer::random(random, c.type, dim, strides_of(c, dim));
}

// Pages of all sequences in one container, shuffled, with one that nothing uses.
void make_pages(Case const& c, sdpa_test::Random& random, Data& data) {
    data.columns = (data.most_keys + c.page_rows - 1) / c.page_rows + 1;
    auto const count = static_cast<std::int64_t>(c.sequences.size()) * data.columns + 1;
    std::vector<std::int32_t> pages(static_cast<std::size_t>(count));
    std::iota(pages.begin(), pages.end(), 0);
    for (std::size_t i = pages.size(); i > 1; --i)
        std::swap(pages[i - 1], pages[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(i) - 1))]);
    pages.pop_back();
    data.blocks = pages;
    data.table = Buffer(DataType_t::INT32, {static_cast<std::int64_t>(c.sequences.size()), data.columns});
    std::copy(pages.begin(), pages.end(), static_cast<std::int32_t*>(data.table.view().data));
    Dims const dim{count, c.page_rows, c.key_heads, c.width};
    data.k = Buffer::random(random, c.type, dim, sdpa_graph::row_major(dim));
    data.v = Buffer::random(random, c.type, dim, sdpa_graph::row_major(dim));
}

std::vector<std::int32_t> narrowed(std::vector<std::int64_t> const& values) { return {values.begin(), values.end()}; }

Data make_data(Case const& c) {
    sdpa_test::Random random(c.seed);
    Data data;
    for (Sequence const& sequence : c.sequences) {
        data.starts_q.push_back(data.starts_q.back() + sequence.queries);
        data.starts_k.push_back(data.starts_k.back() + sequence.keys);
    }
    data.most_queries = c.most_queries.value_or(longest(c, &Sequence::queries));
    data.most_keys = c.most_keys.value_or(longest(c, &Sequence::keys));
    data.q = tensor(c, random, data.starts_q.back(), c.heads);
    data.dout = tensor(c, random, data.starts_q.back(), c.heads);
    if (c.page_rows > 0) {
        make_pages(c, random, data);
    } else {
        data.k = tensor(c, random, data.starts_k.back(), c.key_heads);
        data.v = tensor(c, random, data.starts_k.back(), c.key_heads);
    }
    data.totals_q = Buffer::integers(narrowed(data.starts_q));
    data.totals_k = c.has_shared_totals ? data.totals_q : Buffer::integers(narrowed(data.starts_k));
    data.used = Buffer::integers(c.used);
    auto const batches = static_cast<std::int64_t>(c.sequences.size());
    std::vector<float> slopes(static_cast<std::size_t>(c.dims_of_slopes == 2 ? batches * c.heads : c.heads));
    for (float& slope : slopes) slope = static_cast<float>(random.real(-0.05, 0.3));
    data.slopes = Buffer::floats(slopes, c.dims_of_slopes == 2 ? Dims{batches, c.heads} : Dims{c.heads});
    std::int64_t const rows = (data.most_queries + 127) / 128 * 128;
    data.softmax_d = Buffer(DataType_t::FLOAT, c.is_packed ? Dims{c.heads, data.starts_q.back() + 128 * batches}
                                                           : Dims{batches, c.heads, rows});
    auto const count = static_cast<std::int64_t>(c.sequences.size()), queries = c.sequences.front().queries;
    data.log_sums_by_row = c.is_packed
                               ? Buffer(DataType_t::FLOAT, {c.heads, data.starts_q.back()}, {1, c.heads})
                               : Buffer(DataType_t::FLOAT, {count, c.heads, queries}, {c.heads * queries, 1, c.heads});
    data.generator = Buffer::long_integers({static_cast<std::int64_t>(c.seed * 77), 5});
    return data;
}

// The arguments in the view of one sequence and one query head.
class Reader {
   public:
    Reader(Case const& c, Data const& data, std::size_t n) : c_(c), data_(data), n_(n) {}

    std::int64_t queries() const { return c_.sequences[n_].queries; }
    std::int64_t keys() const { return c_.used.empty() ? c_.sequences[n_].keys : c_.used[n_]; }
    double q(Tensor_view const& view, std::int64_t i, std::int64_t h, std::int64_t column) const {
        return at(view, data_.starts_q[n_], i, h, column);
    }
    double k(Tensor_view const& view, std::int64_t j, std::int64_t h, std::int64_t column) const {
        if (c_.page_rows == 0) return at(view, data_.starts_k[n_], j, h, column);
        auto const entry = static_cast<std::size_t>(static_cast<std::int64_t>(n_) * data_.columns + j / c_.page_rows);
        return value_at(view, {data_.blocks[entry], j % c_.page_rows, h, column});
    }
    double log_sum(Tensor_view const& view, std::int64_t i, std::int64_t h) const {
        auto const n = static_cast<std::int64_t>(n_);
        return c_.is_packed ? value_at(view, {h, data_.starts_q[n_] + i}) : value_at(view, {n, h, i});
    }
    double softmax_d(Tensor_view const& view, std::int64_t i, std::int64_t h) const {
        auto const n = static_cast<std::int64_t>(n_);
        return c_.is_packed ? value_at(view, {h, data_.starts_q[n_] + 128 * n + i}) : value_at(view, {n, h, i});
    }

   private:
    double at(Tensor_view const& view, std::int64_t start, std::int64_t row, std::int64_t h,
              std::int64_t column) const {
        return c_.is_packed ? value_at(view, {start + row, h, column})
                            : value_at(view, {static_cast<std::int64_t>(n_), row, h, column});
    }

    Case const& c_;
    Data const& data_;
    std::size_t n_;
};

// The greatest error of a result relative to the greatest magnitude of the expected one, or of the terms whose
// differences it sums: those of gradients cancel where one key is visible to a row.
class Comparison {
   public:
    Comparison(char const* name, double tolerance, double terms) : name_(name), tolerance_(tolerance), most_(terms) {}

    void add(double found, double wanted) {
        if (std::isinf(wanted) || std::isinf(found)) {
            if (found != wanted) error_ = std::numeric_limits<double>::infinity();
            return;
        }
        most_ = std::max(most_, std::abs(wanted));
        if (std::isnan(found)) error_ = std::numeric_limits<double>::infinity();
        error_ = std::max(error_, std::abs(found - wanted));
    }
    std::string fault() const {
        if (error_ <= tolerance_ * most_) return {};
        std::ostringstream text;
        text << name_ << " is off by " << error_ << " at magnitudes up to " << most_ << "\n";
        return text.str();
    }

   private:
    char const* name_;
    double tolerance_, most_, error_ = 0.0;
};

// Notes the works that it has another worker do.
class Noting_worker final : public cudnn_frontend::rows::Worker {
   public:
    explicit Noting_worker(DataType_t type) : host_(type, 1) {}

    cudnn_frontend::error_object run(cudnn_frontend::rows::Work const& work) const override {
        names_.push_back(std::visit([](auto const& part) { return part.kName; }, work));
        return host_.run(work);
    }
    std::vector<std::string> const& names() const { return names_; }

   private:
    cudnn_frontend::rows::HostWorker host_;
    mutable std::vector<std::string> names_;
};

struct Results {
    flash::Forward_results forward;
    flash::Backward_results backward;
    bool has_backward = false;
    std::vector<std::string> works;  // in addition to attention, as on a GPU
};

// A call as on a GPU: a host does the work in addition to attention.
class Emulated {
   public:
    Emulated(Case const& c, Data const& data, flash::Place const& place, bool is_backward)
        : worker_(c.type), made_(is_backward, c.is_packed, place) {
        using enum flash::Argument;
        made_.call.function = is_backward ? "backward" : "forward";
        made_.call.worker = &worker_;
        made_.set(Q, data.q.view());
        made_.set(K, data.k.view());
        made_.set(V, data.v.view());
        if (c.is_packed) {
            made_.set(CuSeqlensQ, data.totals_q.view());
            made_.set(CuSeqlensK, data.totals_k.view());
        }
        if (!c.used.empty()) made_.set(SequsedK, data.used.view());
        if (c.page_rows > 0) made_.set(BlockTable, data.table.view());
        if (c.dims_of_slopes > 0) made_.set(AlibiSlopes, data.slopes.view());
        if (c.p_dropout > 0) made_.set(Seed, data.generator.view());
        set_options(c, data);
    }

    std::string forward(Results& results) {
        made_.set(flash::Argument::SoftmaxLse, results.forward.softmax_lse);
        return text("forward", flash::run_forward(made_.call, results.forward), results);
    }
    std::string backward(Data const& data, Results& results) {
        using enum flash::Argument;
        made_.set(DOut, data.dout.view());
        made_.set(Out, results.forward.out);
        made_.set(SoftmaxLse, results.forward.softmax_lse);
        made_.set(SoftmaxD, data.softmax_d.view());
        results.has_backward = true;
        return text("backward", flash::run_backward(made_.call, results.backward), results);
    }

   private:
    void set_options(Case const& c, Data const& data) {
        flash::Call& call = made_.call;
        call.max_seqlen_q = data.most_queries;
        call.max_seqlen_k = data.most_keys;
        call.p_dropout = c.p_dropout;
        call.softmax_scale = kScale;
        call.softcap = c.softcap;
        call.is_causal = c.is_causal;
        call.zero_tensors = c.zero_tensors;
        call.return_softmax = c.p_dropout > 0;
        call.is_deterministic = true;
        call.window_left = c.left;
        call.window_right = c.right;
    }
    std::string text(char const* pass, cudnn_frontend::error_object const& error, Results& results) const {
        results.works.insert(results.works.end(), worker_.names().begin(), worker_.names().end());
        return error.is_good() ? "" : std::string(pass) + ": " + error.get_message() + "\n";
    }

    Noting_worker worker_;
    Gpu_call made_;
};

std::string run_forward(Case const& c, Data const& data, flash::Place const& place, Results& results) {
    if (c.is_as_on_gpu) return Emulated(c, data, place, false).forward(results);
    Optional_tensor slopes, generator, used, table;
    if (c.dims_of_slopes > 0) slopes = data.slopes.view();
    if (c.p_dropout > 0) generator = data.generator.view();
    if (!c.used.empty()) used = data.used.view();
    if (c.page_rows > 0) table = data.table.view();
    bool const returns_p = c.p_dropout > 0;
    auto const error =
        c.is_packed
            ? flash::mha_varlen_fwd(data.q.view(), data.k.view(), data.v.view(), {}, data.totals_q.view(),
                                    data.totals_k.view(), used, table, slopes, static_cast<int>(data.most_queries),
                                    static_cast<int>(data.most_keys), c.p_dropout, kScale, c.zero_tensors, c.is_causal,
                                    c.left, c.right, c.softcap, returns_p, generator, place, results.forward)
            : flash::mha_fwd(data.q.view(), data.k.view(), data.v.view(), {}, slopes, c.p_dropout, kScale, c.is_causal,
                             c.left, c.right, c.softcap, returns_p, generator, place, results.forward);
    return error.is_good() ? "" : "forward: " + error.get_message() + "\n";
}

std::string run_backward(Case const& c, Data const& data, flash::Place const& place, Results& results) {
    if (c.is_as_on_gpu) return Emulated(c, data, place, true).backward(data, results);
    Optional_tensor slopes;
    if (c.dims_of_slopes > 0) slopes = data.slopes.view();
    Tensor_view const& state = results.forward.rng_state;
    auto const& [out, log_sums] = std::tie(results.forward.out, results.forward.softmax_lse);
    auto const error =
        c.is_packed ? flash::mha_varlen_bwd(data.dout.view(), data.q.view(), data.k.view(), data.v.view(), out,
                                            log_sums, {}, {}, {}, data.totals_q.view(), data.totals_k.view(), slopes,
                                            static_cast<int>(data.most_queries), static_cast<int>(data.most_keys),
                                            c.p_dropout, kScale, c.zero_tensors, c.is_causal, c.left, c.right,
                                            c.softcap, true, state, {}, place, results.backward)
                    : flash::mha_bwd(data.dout.view(), data.q.view(), data.k.view(), data.v.view(), out, log_sums, {},
                                     {}, {}, slopes, c.p_dropout, kScale, c.is_causal, c.left, c.right, c.softcap, true,
                                     state, {}, place, results.backward);
    results.has_backward = true;
    return error.is_good() ? "" : "backward: " + error.get_message() + "\n";
}

Formula formula_of(Case const& c, Data const& data, Reader const& read, std::size_t n, std::int64_t h,
                   Results const& results) {
    Function const function = c.is_packed ? Function::MhaVarlenFwd : Function::MhaFwd;
    Formula f{{function, data.most_queries, data.most_keys, c.is_causal, c.left, c.right, c.dims_of_slopes > 0}};
    f.scale = kScale;
    f.softcap = c.softcap;
    f.p_dropout = c.p_dropout;
    f.queries = read.queries();
    f.keys = read.keys();
    f.width = c.width;
    std::int64_t const key_head = h / (c.heads / c.key_heads);
    for (std::int64_t i = 0; i < f.queries; ++i)
        for (std::int64_t column = 0; column < c.width; ++column) {
            f.q.push_back(read.q(data.q.view(), i, h, column));
            f.dout.push_back(read.q(data.dout.view(), i, h, column));
        }
    for (std::int64_t j = 0; j < f.keys; ++j)
        for (std::int64_t column = 0; column < c.width; ++column) {
            f.k.push_back(read.k(data.k.view(), j, key_head, column));
            f.v.push_back(read.k(data.v.view(), j, key_head, column));
        }
    auto const entry = static_cast<std::int64_t>(n);
    if (c.dims_of_slopes > 0) f.slope = value_at(data.slopes.view(), c.dims_of_slopes == 2 ? Dims{entry, h} : Dims{h});
    for (std::int64_t i = 0; c.p_dropout > 0 && i < f.queries; ++i)
        for (std::int64_t j = 0; j < f.keys; ++j)
            f.kept.push_back(!std::signbit(value_at(results.forward.p, {entry, h, i, j})));
    return f;
}

struct Comparisons {
    explicit Comparisons(double unit)
        : out("out", 4 * unit, 0.05),
          log_sums("softmax_lse", 1e-4, 0.05),
          p("p", 4 * unit, 0.05),
          dq("dq", 8 * unit, 0.5),
          dk("dk", 8 * unit, 0.5),
          dv("dv", 8 * unit, 0.5),
          softmax_d("softmax_d", 8 * unit, 0.5) {}

    Comparison out, log_sums, p, dq, dk, dv, softmax_d;

    std::string faults() const {
        std::string all;
        for (Comparison const* one : {&out, &log_sums, &p, &dq, &dk, &dv, &softmax_d}) all += one->fault();
        return all;
    }
};

// Sums the terms of the query heads that share a key head.
void add_to(std::vector<double>& sum, std::vector<double> const& part) {
    sum.resize(part.size());
    for (std::size_t i = 0; i < part.size(); ++i) sum[i] += part[i];
}

void compare_rows(Case const& c, Reader const& read, std::size_t n, std::int64_t h, Answer const& answer,
                  Results const& results, Comparisons& all) {
    for (std::int64_t i = 0; i < read.queries(); ++i) {
        auto const row = static_cast<std::size_t>(i);
        all.log_sums.add(read.log_sum(results.forward.softmax_lse, i, h), answer.log_sums[row]);
        if (results.backward.softmax_d.data != nullptr)
            all.softmax_d.add(read.softmax_d(results.backward.softmax_d, i, h), answer.softmax_d[row]);
        for (std::int64_t column = 0; column < c.width; ++column) {
            auto const at = static_cast<std::size_t>(i * c.width + column);
            all.out.add(read.q(results.forward.out, i, h, column), answer.out[at]);
            if (results.has_backward) all.dq.add(read.q(results.backward.dq, i, h, column), answer.dq[at]);
        }
        for (std::int64_t j = 0; c.p_dropout > 0 && j < read.keys(); ++j)
            all.p.add(std::abs(value_at(results.forward.p, {static_cast<std::int64_t>(n), h, i, j})),
                      answer.probabilities[static_cast<std::size_t>(i * read.keys() + j)]);
    }
}

void compare_keys(Case const& c, Reader const& read, std::int64_t key_head, std::vector<double> const& dk,
                  std::vector<double> const& dv, Results const& results, Comparisons& all) {
    for (std::int64_t j = 0; j < read.keys(); ++j)
        for (std::int64_t column = 0; column < c.width; ++column) {
            auto const at = static_cast<std::size_t>(j * c.width + column);
            all.dk.add(read.k(results.backward.dk, j, key_head, column), dk[at]);
            all.dv.add(read.k(results.backward.dv, j, key_head, column), dv[at]);
        }
}

std::string compare(Case const& c, Data const& data, Results const& results) {
    Comparisons all(c.type == DataType_t::HALF ? 0x1p-11 : 0x1p-8);
    std::int64_t const group = c.heads / c.key_heads;
    for (std::size_t n = 0; n < c.sequences.size(); ++n) {
        Reader const read(c, data, n);
        for (std::int64_t key_head = 0; key_head < c.key_heads; ++key_head) {
            std::vector<double> dk, dv;
            for (std::int64_t h = key_head * group; h < (key_head + 1) * group; ++h) {
                Answer const answer = evaluate(formula_of(c, data, read, n, h, results));
                compare_rows(c, read, n, h, answer, results, all);
                add_to(dk, answer.dk);
                add_to(dv, answer.dv);
            }
            if (results.has_backward) compare_keys(c, read, key_head, dk, dv, results, all);
        }
    }
    return all.faults();
}

}  // namespace

std::string describe(Case const& c) {
    std::ostringstream text;
    text << (c.is_packed ? "packed" : "padded");
    for (Sequence const& sequence : c.sequences) text << " " << sequence.queries << "x" << sequence.keys;
    text << ", heads " << c.heads << "/" << c.key_heads << ", width " << c.width << ", "
         << (c.type == DataType_t::HALF ? "half" : "bfloat16") << (c.is_causal ? ", causal" : "") << ", window "
         << c.left << " " << c.right << ", softcap " << c.softcap << ", dropout " << c.p_dropout << ", slopes "
         << c.dims_of_slopes << ", pages of " << c.page_rows << ", " << c.used.size() << " used lengths"
         << (c.is_interleaved ? ", interleaved" : "") << ", seed " << c.seed;
    return text.str();
}

namespace {

std::string run_both(Case const& c, Data const& data, Arena& arena, Results& results) {
    flash::Place place = arena.place();
    place.shape_policy = c.shape_policy;
    place.target = c.is_as_on_gpu ? cudnn_frontend::Target::cpu() : c.target;
    if (c.has_log_sums_by_row) results.forward.softmax_lse = data.log_sums_by_row.view();
    std::string faults = run_forward(c, data, place, results);
    bool const is_for_inference = c.page_rows > 0 || !c.used.empty();
    if (faults.empty() && !is_for_inference) faults = run_backward(c, data, place, results);
    return faults;
}

}  // namespace

std::string faults_of(Case const& c) {
    Data const data = make_data(c);
    Arena arena;
    Results results;
    std::string faults = run_both(c, data, arena, results);
    if (faults.empty()) faults = compare(c, data, results);
    return faults.empty() ? "" : describe(c) + ":\n" + faults;
}

std::vector<std::string> works_of(Case const& c) {
    Arena arena;
    Results results;
    std::string const faults = run_both(c, make_data(c), arena, results);
    return faults.empty() ? results.works : std::vector{faults};
}

double share_dropped(Case const& c) {
    Data const data = make_data(c);
    Arena arena;
    Results results;
    if (!run_forward(c, data, arena.place(), results).empty()) return -1.0;
    Tensor_view const& p = results.forward.p;
    std::int64_t dropped = 0, all = 0;
    for (std::int64_t n = 0; n < p.dim[0]; ++n)
        for (std::int64_t h = 0; h < p.dim[1]; ++h)
            for (std::int64_t i = 0; i < data.most_queries; ++i)
                for (std::int64_t j = 0; j < data.most_keys; ++j, ++all)
                    dropped += std::signbit(value_at(p, {n, h, i, j})) ? 1 : 0;
    return static_cast<double>(dropped) / static_cast<double>(all);
}

}  // namespace flash_test
