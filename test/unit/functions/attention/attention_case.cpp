#include "attention_case.h"

#include "reference/checks/tolerance.h"
#include "reference/oracle/oracle.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace attention_test {
namespace {

namespace attention = sdpa_graph::attention;

constexpr std::int64_t kRowsInFront = 2, kRowsAtTheEnd = 3;  // of packed tensors
constexpr float kScale = 0.4f;

// Which rows of the tensors of a side belong to sequences.
class Rows {
   public:
    Rows(Case const& c, Side const& side, std::int64_t Sequence::*length) : is_packed_(side.is_packed) {
        std::int64_t const front = side.is_packed ? kRowsInFront : 0;
        starts_.push_back(front);
        for (Sequence const& sequence : c.sequences) {
            lengths_.push_back(sequence.*length);
            starts_.push_back(starts_.back() + lengths_.back());
        }
        longest_ = *std::ranges::max_element(lengths_);
        rows_ = is_packed_ ? starts_.back() + kRowsAtTheEnd : longest_ + side.room;
    }

    bool is_packed() const { return is_packed_; }
    std::int64_t longest() const { return longest_; }
    std::vector<std::int64_t> const& lengths() const { return lengths_; }
    std::vector<std::int64_t> const& ends() const { return starts_; }
    std::int64_t sequences() const { return static_cast<std::int64_t>(lengths_.size()); }

    Dims dims(std::int64_t heads, std::int64_t width) const {
        return is_packed_ ? Dims{rows_, heads, width} : Dims{sequences(), heads, rows_, width};
    }
    Dims strides(Order order, std::int64_t heads, std::int64_t width, std::int64_t gap) const {
        std::int64_t const b = sequences(), unit = width + gap;
        if (is_packed_) return {heads * unit, unit, 1};
        if (order == Order::Bshd) return {rows_ * heads * unit, unit, heads * unit, 1};
        if (order == Order::Bhsd) return {heads * rows_ * unit, rows_ * unit, unit, 1};
        return {heads * unit, unit, b * heads * unit, 1};
    }
    Dims index(std::int64_t n, std::int64_t row, std::int64_t head, std::int64_t column) const {
        if (is_packed_) return {starts_[static_cast<std::size_t>(n)] + row, head, column};
        return {n, head, row, column};
    }

    // Calls visit(n, row, head, column) for each element of the sequences.
    template <class Visit>
    void for_each(std::int64_t heads, std::int64_t width, Visit const& visit) const {
        for (std::int64_t n = 0; n < sequences(); ++n)
            for (std::int64_t row = 0; row < lengths_[static_cast<std::size_t>(n)]; ++row)
                for (std::int64_t head = 0; head < heads; ++head)
                    for (std::int64_t column = 0; column < width; ++column) visit(n, row, head, column);
    }

   private:
    bool is_packed_;
    std::int64_t longest_ = 0, rows_ = 0;
    std::vector<std::int64_t> lengths_, starts_;
};

std::int64_t offset_of(Tensor_view const& view, Dims const& index) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * view.stride[d];
    return at;
}

// Calls visit(index) for each element of a tensor.
template <class Visit>
void for_each_index(Dims const& dim, Visit const& visit) {
    Dims index(dim.size(), 0);
    if (std::ranges::count(dim, 0) > 0) return;
    while (true) {
        visit(index);
        std::size_t d = dim.size();
        while (d-- > 0 && ++index[d] == dim[d]) index[d] = 0;
        if (d > dim.size()) return;
    }
}

// A tensor in the middle of memory that nothing else may write.
class Guarded {
   public:
    Guarded(DataType_t type, Dims const& dim, Dims const& stride)
        : memory_(type, {sdpa_graph::span_of(dim, stride) + 2 * kGuard}), view_(memory_.view()) {
        view_.data = byte_at(kGuard);
        view_.dim = dim;
        view_.stride = stride;
    }

    Tensor_view const& view() const { return view_; }

    bool has_untouched_guards() const {
        std::vector<bool> is_own(static_cast<std::size_t>(memory_.view().dim[0]));
        for_each_index(view_.dim, [&](Dims const& index) {
            is_own[static_cast<std::size_t>(kGuard + offset_of(view_, index))] = true;
        });
        for (std::size_t i = 0; i < is_own.size(); ++i) {
            std::byte const* const bytes = byte_at(static_cast<std::int64_t>(i));
            for (std::int64_t byte = 0; !is_own[i] && byte < bytes_of_element(); ++byte)
                if (bytes[byte] != std::byte{0xff}) return false;
        }
        return true;
    }

   private:
    static constexpr std::int64_t kGuard = 64;

    std::int64_t bytes_of_element() const { return cudnn_frontend::core::size_of(memory_.view().type); }
    std::byte* byte_at(std::int64_t element) const {
        return static_cast<std::byte*>(memory_.view().data) + element * bytes_of_element();
    }

    Buffer memory_;
    Tensor_view view_;
};

// The call's inputs. Rows of no sequence are NaN.
struct Data {
    explicit Data(Case const& c)
        : queries(c, c.of_q, &Sequence::queries), keys(c, c.of_kv, &Sequence::keys), random(c.seed) {
        q = tensor(c, queries, c.orders.q, c.heads, c.width);
        k = tensor(c, keys, c.orders.k, c.key_heads, c.width);
        v = tensor(c, keys, c.orders.v, c.value_heads, c.value_width);
        grad_o = tensor(c, queries, c.orders.grad_o, c.heads, c.value_width);
        std::vector<float> logits(static_cast<std::size_t>(c.heads));
        for (float& logit : logits) logit = static_cast<float>(random.real(-1.0, 1.0));
        sink = Buffer::floats(logits, {1, c.heads, 1, 1});
        seed = Buffer::long_integers({static_cast<std::int64_t>(c.seed * 91), 7});
        add_lengths(c.of_q, queries, lengths_q, ends_q);
        add_lengths(c.of_kv, keys, lengths_kv, ends_kv);
    }

    attention::Inputs inputs(Case const& c) const {
        attention::Inputs inputs{q.view(), k.view(), v.view()};
        if (c.has_sink) inputs.sink = sink.view();
        if (c.dropout_p > 0) inputs.seed = seed.view();
        if (lengths_q) inputs.seq_len_q = lengths_q->view();
        if (lengths_kv) inputs.seq_len_kv = lengths_kv->view();
        if (ends_q) inputs.cu_seqlens_q = ends_q->view();
        if (ends_kv) inputs.cu_seqlens_kv = ends_kv->view();
        return inputs;
    }

    Rows queries, keys;
    sdpa_test::Random random;
    Buffer q, k, v, grad_o, sink, seed;
    std::optional<Buffer> lengths_q, lengths_kv, ends_q, ends_kv;

   private:
    Buffer tensor(Case const& c, Rows const& rows, Order order, std::int64_t heads, std::int64_t width) {
        Buffer buffer(c.type, rows.dims(heads, width), rows.strides(order, heads, width, c.gap));
        rows.for_each(heads, width, [&](auto n, auto row, auto head, auto column) {
            std::int64_t const at = offset_of(buffer.view(), rows.index(n, row, head, column));
            cudnn_frontend::core::store(c.type, buffer.view().data, at, random.real(-1.0, 1.0));
        });
        return buffer;
    }
    static void add_lengths(Side const& side, Rows const& rows, std::optional<Buffer>& lengths,
                            std::optional<Buffer>& ends) {
        auto const narrowed = [](std::vector<std::int64_t> const& numbers) {
            return std::vector<std::int32_t>(numbers.begin(), numbers.end());
        };
        if (side.is_packed) ends = Buffer::integers(narrowed(rows.ends()));
        else if (side.has_lengths) lengths = Buffer::integers(narrowed(rows.lengths()));
    }
};

attention::Options options_of(Case const& c, Data const& data) {
    attention::Options options;
    options.scale = kScale;
    options.left_bound = c.left;
    options.right_bound = c.right;
    options.is_bottom_right = c.is_bottom_right;
    options.has_alibi = c.has_alibi;
    options.softcap = c.softcap;
    options.dropout_p = c.dropout_p;
    options.is_deterministic = c.is_deterministic;
    options.longest_q = data.queries.longest();
    options.longest_kv = data.keys.longest();
    return options;
}

sdpa_graph::Place place_of(Case const& c, Arena& arena) {
    sdpa_graph::Place place = arena.place();
    place.shape_policy = c.policy;
    place.target = c.target;
    return place;
}

oracle::Array array_of(Tensor_view const& view, Rows const& rows, std::int64_t heads, std::int64_t width) {
    oracle::Array array(rows.sequences(), heads, std::max<std::int64_t>(rows.longest(), 1), width);
    rows.for_each(heads, width, [&](auto n, auto row, auto head, auto column) {
        array.at(n, head, row, column) = value_at(view, rows.index(n, row, head, column));
    });
    return array;
}

oracle::Problem problem_of(Case const& c, Data const& data) {
    oracle::Problem problem;
    problem.q = array_of(data.q.view(), data.queries, c.heads, c.width);
    problem.k = array_of(data.k.view(), data.keys, c.key_heads, c.width);
    problem.v = array_of(data.v.view(), data.keys, c.value_heads, c.value_width);
    problem.scale = kScale;
    if (c.softcap) {
        problem.modifier.kind = oracle::Modify::Softcap;
        problem.modifier.number = *c.softcap;
    }
    if (c.has_sink) {
        problem.sink = oracle::Array(1, c.heads, 1, 1);
        for (std::int64_t h = 0; h < c.heads; ++h) problem.sink->at(0, h, 0, 0) = value_at(data.sink.view(), {0, h});
    }
    problem.alibi = c.has_alibi;
    problem.len_q = data.queries.lengths();
    problem.len_kv = data.keys.lengths();
    problem.bottom_right = c.is_bottom_right;
    problem.left = c.left;
    problem.right = c.right;
    return problem;
}

// Which probabilities forward drops: it gives them themselves if the values are the rows of an identity matrix.
std::string find_dropped(Case const& c, Data const& data, oracle::Problem& problem) {
    std::int64_t const width = std::max<std::int64_t>(data.keys.longest(), 1);
    Buffer const v(c.type, data.keys.dims(c.value_heads, width),
                   data.keys.strides(c.orders.v, c.value_heads, width, 0));
    data.keys.for_each(c.value_heads, width, [&](auto n, auto row, auto head, auto column) {
        std::int64_t const at = offset_of(v.view(), data.keys.index(n, row, head, column));
        cudnn_frontend::core::store(c.type, v.view().data, at, row == column ? 1.0 : 0.0);
    });
    attention::Inputs inputs = data.inputs(c);
    inputs.v = v.view();
    Arena arena;
    attention::Forward_results results;
    auto const error = attention::forward(inputs, options_of(c, data), false, place_of(c, arena), results);
    if (error.is_bad()) return "probabilities: " + error.get_message() + "\n";
    problem.dropout_mask = array_of(results.o, data.queries, c.heads, width);
    for (double& entry : problem.dropout_mask->values) entry = entry == 0.0 ? 0.0 : 1.0;
    problem.dropout_scale = 1.0 / (1.0 - static_cast<double>(c.dropout_p));
    return {};
}

// Compares a result with the exact one and its tolerance in the rows of sequences, and with 0 in all others.
class Comparison {
   public:
    Comparison(std::string name, Tensor_view const& found, Rows const& rows)
        : name_(std::move(name)), found_(found), rows_(rows) {}

    void compare(oracle::Array const& exact, oracle::Array const& allowed) {
        rows_.for_each(exact.dim[1], exact.dim[3], [&](auto n, auto row, auto head, auto column) {
            double const found = value_at(found_, rows_.index(n, row, head, column));
            double const wanted = exact.at(n, head, row, column);
            bool const is_right =
                std::isinf(wanted) ? found == wanted : std::abs(found - wanted) <= allowed.at(n, head, row, column);
            if (is_right || !fault_.empty()) return;
            std::ostringstream text;
            text << name_ << " of sequence " << n << ", row " << row << ", head " << head << ", column " << column
                 << " is " << found << ", not " << wanted << "\n";
            fault_ = text.str();
        });
    }
    void expect_zeros_elsewhere() {
        std::vector<bool> has_sequence(static_cast<std::size_t>(sdpa_graph::span_of(found_.dim, found_.stride)));
        std::int64_t const heads = found_.dim[1];
        rows_.for_each(heads, found_.dim.back(), [&](auto n, auto row, auto head, auto column) {
            has_sequence[static_cast<std::size_t>(offset_of(found_, rows_.index(n, row, head, column)))] = true;
        });
        for_each_index(found_.dim, [&](Dims const& index) {
            bool const is_outside = !has_sequence[static_cast<std::size_t>(offset_of(found_, index))];
            if (is_outside && fault_.empty() && value_at(found_, index) != 0.0)
                fault_ = name_ + " is not 0 in a row of no sequence\n";
        });
    }
    std::string const& fault() const { return fault_; }

   private:
    std::string name_, fault_;
    Tensor_view const& found_;
    Rows const& rows_;
};

class Checked_call {
   public:
    explicit Checked_call(Case const& c) : c_(c), data_(c), problem_(problem_of(c, data_)), inputs_(data_.inputs(c)) {}

    std::string faults() {
        if (c_.dropout_p > 0) faults_ = find_dropped(c_, data_, problem_);
        if (!faults_.empty()) return faults_;
        forward();
        if (faults_.empty()) backward();
        for (Guarded const& result : given_)
            if (!result.has_untouched_guards()) faults_ += "memory around a result was written\n";
        return faults_;
    }

   private:
    Tensor_view result(Rows const& rows, Order order, std::int64_t heads, std::int64_t width, DataType_t type) {
        if (!c_.gives_results) return {};
        given_.emplace_back(type, rows.dims(heads, width), rows.strides(order, heads, width, c_.gap));
        return given_.back().view();
    }
    bool check(char const* pass, cudnn_frontend::error_object const& error) {
        if (error.is_bad()) faults_ += std::string(pass) + ": " + error.get_message() + "\n";
        return error.is_good();
    }
    void compare(char const* name, Tensor_view const& found, Rows const& rows, oracle::Array const& exact,
                 oracle::Array const& allowed) {
        Comparison comparison(name, found, rows);
        comparison.compare(exact, allowed);
        if (std::string(name) != "stats") comparison.expect_zeros_elsewhere();
        faults_ += comparison.fault();
    }
    oracle::Precision precision() const {
        // Probabilities and their gradients may be rounded to BFLOAT16 before products.
        double const factor = c_.type == DataType_t::BFLOAT16 ? 0x1p-8 : 0.0;
        return {.unit = oracle::Precision::kSingle,
                .io = c_.type,
                .bias = c_.type,
                .factor_unit = factor,
                .gradient_unit = factor};
    }

    void forward() {
        results_.o = result(data_.queries, c_.orders.o, c_.heads, c_.value_width, c_.type);
        results_.stats = result(data_.queries, c_.orders.o, c_.heads, 1, DataType_t::FLOAT);
        if (!check("forward", attention::forward(inputs_, options_of(c_, data_), true, place_of(c_, arena_), results_)))
            return;
        oracle::Forward exact = oracle::forward(problem_);
        bool const has_no_keys = std::ranges::count(data_.k.view().dim, 0) > 0;
        if (has_no_keys) std::ranges::fill(exact.stats.values, -std::numeric_limits<double>::infinity());  // no sink
        oracle::Forward const allowed = oracle::allowed_error(problem_, exact, precision());
        compare("o", results_.o, data_.queries, exact.o, allowed.o);
        compare("stats", results_.stats, data_.queries, exact.stats, allowed.stats);
    }

    void backward() {
        attention::Backward_results made;
        made.dq = result(data_.queries, c_.orders.grads, c_.heads, c_.width, c_.type);
        made.dk = result(data_.keys, c_.orders.grads, c_.key_heads, c_.width, c_.type);
        made.dv = result(data_.keys, c_.orders.grads, c_.value_heads, c_.value_width, c_.type);
        Guarded const dsink(DataType_t::FLOAT, {1, c_.heads, 1, 1}, {c_.heads, 1, 1, 1});
        if (c_.has_sink) made.dsink = dsink.view();
        if (!check("backward", attention::backward(data_.grad_o.view(), inputs_, results_.o, results_.stats,
                                                   options_of(c_, data_), place_of(c_, arena_), made)))
            return;
        oracle::Array const o = array_of(results_.o, data_.queries, c_.heads, c_.value_width);
        oracle::Array const stats = array_of(results_.stats, data_.queries, c_.heads, 1);
        oracle::Array const grad_o = array_of(data_.grad_o.view(), data_.queries, c_.heads, c_.value_width);
        oracle::Backward const exact = oracle::backward(problem_, o, stats, grad_o);
        oracle::Backward const allowed = oracle::allowed_error(problem_, o, stats, grad_o, exact, precision());
        compare("dq", made.dq, data_.queries, exact.d_q, allowed.d_q);
        compare("dk", made.dk, data_.keys, exact.d_k, allowed.d_k);
        compare("dv", made.dv, data_.keys, exact.d_v, allowed.d_v);
        for (std::int64_t h = 0; c_.has_sink && h < c_.heads; ++h) {
            double const found = value_at(dsink.view(), {0, h});
            bool const is_right = std::abs(found - exact.d_sink.at(0, h, 0, 0)) <= allowed.d_sink.at(0, h, 0, 0);
            if (!is_right) faults_ += "dsink of head " + std::to_string(h) + " is " + std::to_string(found) + "\n";
        }
        if (!dsink.has_untouched_guards()) faults_ += "memory around dsink was written\n";
    }

    Case const& c_;
    Data data_;
    oracle::Problem problem_;
    attention::Inputs inputs_;
    Arena arena_;
    attention::Forward_results results_;
    std::vector<Guarded> given_;
    std::string faults_;
};

char const* name_of(Order order) { return order == Order::Bshd ? "bshd" : order == Order::Bhsd ? "bhsd" : "sbhd"; }

}  // namespace

bool Case::has_alike_sequences(std::int64_t Sequence::*length) const {
    return std::ranges::all_of(sequences, [&](Sequence const& s) { return s.*length == sequences.front().*length; });
}

std::string describe(Case const& c) {
    std::ostringstream text;
    text << (c.policy == Shape_policy::CLASSES ? "classes" : "exact");
    for (auto const& [name, side] : {std::pair{"q", &c.of_q}, {"kv", &c.of_kv}})
        text << ", " << name
             << (side->is_packed     ? " packed"
                 : side->has_lengths ? " with lengths"
                                     : " padded")
             << " + " << side->room;
    text << ", sequences";
    for (Sequence const& sequence : c.sequences) text << " " << sequence.queries << "x" << sequence.keys;
    text << ", heads " << c.heads << "/" << c.key_heads << "/" << c.value_heads << ", widths " << c.width << "/"
         << c.value_width << ", gap " << c.gap << ", " << (c.type == DataType_t::HALF ? "half" : "bfloat16");
    for (Order const order : {c.orders.q, c.orders.k, c.orders.v, c.orders.o, c.orders.grad_o, c.orders.grads})
        text << " " << name_of(order);
    text << ", bounds " << c.left.value_or(-1) << " " << c.right.value_or(-1)
         << (c.is_bottom_right ? " bottom right" : "") << (c.has_alibi ? ", alibi" : "") << (c.has_sink ? ", sink" : "")
         << (c.is_deterministic ? ", deterministic" : "") << ", soft cap " << c.softcap.value_or(0.0f) << ", dropout "
         << c.dropout_p << (c.gives_results ? ", results given" : "") << ", seed " << c.seed;
    return text.str();
}

std::string faults_of(Case const& c) {
    std::string const faults = Checked_call(c).faults();
    return faults.empty() ? "" : describe(c) + ":\n" + faults;
}

}  // namespace attention_test
