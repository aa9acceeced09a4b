#include "reference/neighborhood_case.h"

#include "reference/tolerance.h"
#include "support/random.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

namespace sdpa_test {
namespace {

namespace fe = cudnn_frontend;
namespace formula = neighborhood_formula;
using formula::Numbers;
using TensorPtr = std::shared_ptr<fe::graph::Tensor_attributes>;
using Dims = std::vector<std::int64_t>;

// A tensor of the caller's as heads see it: the numbers of a batch entry and head, in row-major order of all other
// dims.
class Rows {
   public:
    // Without a batch dim, all entries share the numbers.
    struct Places {
        std::optional<std::size_t> batch;
        std::size_t head;
    };

    Rows(Dims dim, Places const& places, DataType_t type, bool has_gaps)
        : dim_(std::move(dim)), stride_(dim_.size()), places_(places) {
        std::int64_t next = 1;
        for (std::size_t i = dim_.size(); i-- > 0;) {
            std::size_t const d = has_gaps ? (i + 2) % dim_.size() : i;
            stride_[d] = next;
            next = next * dim_[d] + (has_gaps ? 3 : 0);
        }
        memory_ = make_tensor(type, {1, 1, 1, next});
    }

    Dims const& dim() const { return dim_; }
    Dims const& stride() const { return stride_; }
    HostTensor const& memory() const { return memory_; }

    Numbers head(std::int64_t batch, std::int64_t head) const {
        Numbers numbers;
        for (std::int64_t n = 0; n < per_head(); ++n) numbers.push_back(memory_.get(place(batch, head, n)));
        return numbers;
    }
    void set_head(std::int64_t batch, std::int64_t head, Numbers const& numbers) const {
        for (std::int64_t n = 0; n < per_head(); ++n) {
            memory_.set(place(batch, head, n), numbers[static_cast<std::size_t>(n)]);
        }
    }

   private:
    bool is_of_row(std::size_t d) const { return d != places_.head && places_.batch != d; }

    std::int64_t per_head() const {
        std::int64_t count = 1;
        for (std::size_t d = 0; d < dim_.size(); ++d) count *= is_of_row(d) ? dim_[d] : 1;
        return count;
    }

    Index4 place(std::int64_t batch, std::int64_t head, std::int64_t n) const {
        std::int64_t offset = head * stride_[places_.head];
        if (places_.batch) offset += batch * stride_[*places_.batch];
        for (std::size_t d = dim_.size(); d-- > 0;) {
            if (!is_of_row(d)) continue;
            offset += n % dim_[d] * stride_[d];
            n /= dim_[d];
        }
        return {0, 0, 0, offset};
    }

    Dims dim_, stride_;
    Places places_;
    HostTensor memory_;
};

formula::Head head_of(NeighborhoodCase const& test) {
    formula::Head head;
    head.axes = test.axes;
    head.width = test.width;
    // A graph carries the default in single precision too.
    head.scale = double{test.scale.value_or(static_cast<float>(1.0 / std::sqrt(static_cast<double>(test.width))))};
    return head;
}

// Makes the tensors of a case, with numbers of its seed.
class TensorMaker {
   public:
    TensorMaker(NeighborhoodCase const& test, bool heads_last)
        : test_(test), heads_last_(heads_last), random_(test.seed) {}

    Rows tokens() const { return rows(test_.width); }
    Rows slots() const { return rows(head_of(test_).slots()); }
    Rows stats() const { return {dims(0), places(), DataType_t::FLOAT, test_.has_gaps}; }
    Rows bias() const {
        Dims dim{test_.heads};
        for (formula::Axis const& axis : test_.axes) dim.push_back(2 * axis.kernel - 1);
        return {dim, {{}, 0}, test_.type, test_.has_gaps};
    }
    Rows filled(Rows rows) {
        for (std::int64_t b = 0; b < test_.batches; ++b) {
            for (std::int64_t h = 0; h < test_.heads; ++h) {
                Numbers numbers = rows.head(b, h);
                for (double& number : numbers) number = random_.real(-1.0, 1.0);
                rows.set_head(b, h, numbers);
            }
        }
        return rows;
    }

   private:
    Rows rows(std::int64_t columns) const { return {dims(columns), places(), test_.type, test_.has_gaps}; }
    Rows::Places places() const { return {0, heads_last_ ? 1 + test_.axes.size() : 1}; }
    Dims dims(std::int64_t columns) const {
        Dims dim{test_.batches};
        for (formula::Axis const& axis : test_.axes) dim.push_back(axis.length);
        dim.insert(heads_last_ ? dim.end() : dim.begin() + 1, test_.heads);
        if (columns > 0) dim.push_back(columns);
        return dim;
    }

    NeighborhoodCase const& test_;
    bool heads_last_;
    Random random_;
};

// The graph of one function, and the memory that it runs on.
class Program {
   public:
    explicit Program(NeighborhoodCase const& test) : test_(test) { graph_.set_io_data_type(test.type); }

    fe::graph::Graph& graph() { return graph_; }

    TensorPtr input(Rows const& rows) {
        auto const tensor = graph_.tensor(fe::graph::Tensor_attributes());
        describe(tensor, rows);
        return tensor;
    }
    void output(TensorPtr const& tensor, Rows const& rows) {
        describe(tensor, rows);
        tensor->set_output(true);
    }

    // The attributes of a function, with the windows of the case.
    template <class Attributes>
    Attributes windows() const {
        Dims kernel, dilation;
        std::vector<bool> causal;
        for (formula::Axis const& axis : test_.axes) {
            kernel.push_back(axis.kernel);
            dilation.push_back(axis.dilation);
            causal.push_back(axis.is_causal);
        }
        return Attributes().set_name("neighbors").set_kernel_size(kernel).set_dilation(dilation).set_is_causal(causal);
    }

    // What went wrong; empty if nothing did.
    std::string run(fe::Target const& target) {
        auto error = graph_.build(target);
        if (error.is_bad()) return error.err_msg;
        HostMemory const workspace(graph_.get_workspace_size());
        error = graph_.execute(nullptr, pack_, workspace.data());
        if (error.is_bad()) return error.err_msg;
        return workspace.guards_intact() ? "" : "memory beside the workspace was written";
    }

   private:
    void describe(TensorPtr const& tensor, Rows const& rows) {
        auto const uid = static_cast<std::int64_t>(pack_.size()) + 1;
        tensor->set_uid(uid).set_dim(rows.dim()).set_stride(rows.stride()).set_data_type(rows.memory().type);
        pack_[uid] = rows.memory().data();
    }

    NeighborhoodCase const& test_;
    fe::graph::Graph graph_;
    std::map<std::int64_t, void*> pack_;
};

// Collects the first difference of results and expectations.
class Comparison {
   public:
    // A result adds up no more than `terms` numbers of magnitude 1, each the product of two sums over the width.
    Comparison(NeighborhoodCase const& test, double unit) {
        double terms = 1.0;
        for (formula::Axis const& axis : test.axes) terms *= static_cast<double>(2 * axis.kernel);
        auto const width = static_cast<double>(test.width);
        allowed_ = 8.0 * unit * width * (width + terms);
    }

    std::string const& fault() const { return fault_; }
    void fail(std::string const& text) {
        if (fault_.empty()) fault_ = text;
    }

    void check(char const* name, Rows const& rows, std::int64_t batch, std::int64_t head, Numbers const& wanted) {
        Numbers const found = rows.head(batch, head);
        if (found.size() != wanted.size()) return fail(std::string(name) + " has another number of elements");
        for (std::size_t i = 0; i < found.size(); ++i) {
            double const allowed = allowed_ + oracle::storage_error(rows.memory().type, std::abs(wanted[i]));
            bool const is_close = std::isfinite(wanted[i]) && std::abs(found[i] - wanted[i]) <= allowed;
            if (is_close || found[i] == wanted[i]) continue;
            std::ostringstream text;
            text << name << " of batch entry " << batch << ", head " << head << ", number " << i << " is " << found[i]
                 << "; needed " << wanted[i] << " with an error of at most " << allowed;
            fail(text.str());
        }
    }
    void check_memory(char const* name, Rows const& rows) {
        if (!rows.memory().memory->guards_intact()) fail(std::string("memory beside ") + name + " was written");
    }

   private:
    double allowed_;
    std::string fault_;
};

template <class Visit>
void for_each_head(NeighborhoodCase const& test, Visit const& visit) {
    for (std::int64_t b = 0; b < test.batches; ++b) {
        for (std::int64_t h = 0; h < test.heads; ++h) visit(b, h);
    }
}

Numbers sum(Numbers const& a, Numbers const& b) {
    Numbers total = a;
    for (std::size_t i = 0; i < b.size(); ++i) {
        if (i < total.size()) total[i] += b[i];
        else total.push_back(b[i]);
    }
    return total;
}

// The gradients of a bias, which batch entries share, head by head.
using BiasGradients = std::map<std::int64_t, Numbers>;

}  // namespace

std::string NeighborhoodCase::text() const {
    std::ostringstream out;
    out << "seed " << seed << ", B " << batches << ", H " << heads << ", D " << width << ", " << name_of(type);
    for (formula::Axis const& axis : axes) {
        out << ", length " << axis.length << " kernel " << axis.kernel << " dilation " << axis.dilation
            << (axis.is_causal ? " causal" : "");
    }
    return out.str() + (has_bias ? ", bias" : "") + (has_gaps ? ", gaps" : "") + (scale ? ", scale" : "");
}

static std::int64_t random_kernel(Random& random, std::int64_t most, bool is_odd) {
    std::int64_t const kernel = random.between(1, most);
    return is_odd && kernel % 2 == 0 ? kernel - 1 : kernel;
}

NeighborhoodCase random_neighborhood_case(std::uint64_t seed) {
    Random random(seed);
    NeighborhoodCase test;
    test.seed = seed;
    test.batches = random.between(1, 2);
    test.heads = random.between(1, 3);
    test.width = random.between(1, 9);
    test.type = random.pick({DataType_t::FLOAT, DataType_t::HALF, DataType_t::BFLOAT16});
    test.has_gaps = random.flip();
    test.generates_stats = random.flip();
    if (random.flip()) test.scale = static_cast<float>(random.real(-2.0, 2.0));
    std::int64_t const rank = random.between(1, 3), longest = rank == 1 ? 40 : rank == 2 ? 12 : 6;
    bool const is_odd = random.flip();
    for (std::int64_t a = 0; a < rank; ++a) {
        formula::Axis axis{random.between(1, longest), 1};
        axis.dilation = random.flip() ? 1 : random.between(1, axis.length);
        axis.kernel = random_kernel(random, axis.length / axis.dilation, is_odd);
        axis.is_causal = random.chance(0.3);
        test.axes.push_back(axis);
    }
    test.has_bias = is_odd && std::none_of(test.axes.begin(), test.axes.end(),
                                           [](formula::Axis const& axis) { return axis.is_causal; });
    return test;
}

static std::string check_fused_forward(NeighborhoodCase const& test, fe::Target const& target, double unit) {
    TensorMaker make(test, true);
    Rows const q = make.filled(make.tokens()), k = make.filled(make.tokens()), v = make.filled(make.tokens()),
               bias = make.filled(make.bias()), o = make.tokens(), stats = make.stats();
    Program program(test);
    auto attributes = program.windows<fe::graph::Neighborhood_attributes>().set_generate_stats(test.generates_stats);
    if (test.scale) attributes.set_attn_scale(*test.scale);
    if (test.has_bias) attributes.set_rel_pos_bias(program.input(bias));
    auto const results =
        program.graph().neighborhood_attention(program.input(q), program.input(k), program.input(v), attributes);
    program.output(results[0], o);
    if (test.generates_stats) program.output(results[1], stats);
    std::string fault = program.run(target);
    if (!fault.empty()) return fault;

    Comparison comparison(test, unit);
    for_each_head(test, [&](std::int64_t b, std::int64_t h) {
        formula::Head head = head_of(test);
        head.q = q.head(b, h), head.k = k.head(b, h), head.v = v.head(b, h);
        if (test.has_bias) head.bias = bias.head(b, h);
        auto const wanted = formula::fused_forward(head);
        comparison.check("O", o, b, h, wanted.o);
        if (test.generates_stats) comparison.check("Stats", stats, b, h, wanted.stats);
    });
    comparison.check_memory("O", o);
    comparison.check_memory("Stats", stats);
    return comparison.fault();
}

// O and Stats are the formula's, rounded to their types.
static std::string check_fused_backward(NeighborhoodCase const& test, fe::Target const& target, double unit) {
    TensorMaker make(test, true);
    Rows const q = make.filled(make.tokens()), k = make.filled(make.tokens()), v = make.filled(make.tokens()),
               d_o = make.filled(make.tokens()), bias = make.filled(make.bias()), o = make.tokens(),
               stats = make.stats(), d_q = make.tokens(), d_k = make.tokens(), d_v = make.tokens(),
               d_bias = make.bias();
    auto const inputs_of = [&](std::int64_t b, std::int64_t h) {
        formula::Head head = head_of(test);
        head.q = q.head(b, h), head.k = k.head(b, h), head.v = v.head(b, h);
        if (test.has_bias) head.bias = bias.head(b, h);
        return head;
    };
    for_each_head(test, [&](std::int64_t b, std::int64_t h) {
        auto const forward = formula::fused_forward(inputs_of(b, h));
        o.set_head(b, h, forward.o);
        stats.set_head(b, h, forward.stats);
    });
    Program program(test);
    auto attributes = program.windows<fe::graph::Neighborhood_backward_attributes>();
    if (test.scale) attributes.set_attn_scale(*test.scale);
    if (test.has_bias) {
        auto const gradient = program.graph().tensor(fe::graph::Tensor_attributes());
        program.output(gradient, d_bias);
        attributes.set_rel_pos_bias(program.input(bias)).set_drel_pos_bias(gradient);
    }
    auto const gradients = program.graph().neighborhood_attention_backward(
        program.input(q), program.input(k), program.input(v), program.input(o), program.input(d_o),
        program.input(stats), attributes);
    program.output(gradients[0], d_q);
    program.output(gradients[1], d_k);
    program.output(gradients[2], d_v);
    std::string fault = program.run(target);
    if (!fault.empty()) return fault;

    Comparison comparison(test, unit);
    BiasGradients of_bias;
    for_each_head(test, [&](std::int64_t b, std::int64_t h) {
        auto const wanted = formula::fused_backward(inputs_of(b, h), o.head(b, h), stats.head(b, h), d_o.head(b, h));
        comparison.check("dQ", d_q, b, h, wanted.q);
        comparison.check("dK", d_k, b, h, wanted.k);
        comparison.check("dV", d_v, b, h, wanted.v);
        of_bias[h] = sum(of_bias[h], wanted.bias);
    });
    if (test.has_bias) {
        for (auto const& [h, wanted] : of_bias) comparison.check("dRel_pos_bias", d_bias, 0, h, wanted);
    }
    return comparison.fault();
}

std::string check_fused_neighborhood(NeighborhoodCase const& test, fe::Target const& target, double unit) {
    std::string const forward = check_fused_forward(test, target, unit);
    return forward.empty() ? check_fused_backward(test, target, unit) : forward;
}

static std::string check_qk(NeighborhoodCase const& test, fe::Target const& target, double unit) {
    TensorMaker make(test, false);
    Rows const q = make.filled(make.tokens()), k = make.filled(make.tokens()), bias = make.filled(make.bias()),
               attn = make.slots();
    Program program(test);
    auto attributes = program.windows<fe::graph::Neighborhood_qk_attributes>();
    if (test.has_bias) attributes.set_rel_pos_bias(program.input(bias));
    program.output(program.graph().neighborhood_qk(program.input(q), program.input(k), attributes), attn);
    std::string fault = program.run(target);
    if (!fault.empty()) return fault;

    Comparison comparison(test, unit);
    for_each_head(test, [&](std::int64_t b, std::int64_t h) {
        formula::Head head = head_of(test);
        head.q = q.head(b, h), head.k = k.head(b, h);
        if (test.has_bias) head.bias = bias.head(b, h);
        comparison.check("Attn", attn, b, h, formula::qk_forward(head));
    });
    return comparison.fault();
}

static std::string check_qk_backward(NeighborhoodCase const& test, fe::Target const& target, double unit) {
    TensorMaker make(test, false);
    Rows const q = make.filled(make.tokens()), k = make.filled(make.tokens()), d_attn = make.filled(make.slots()),
               d_q = make.tokens(), d_k = make.tokens(), d_bias = make.bias();
    Program program(test);
    auto attributes = program.windows<fe::graph::Neighborhood_qk_backward_attributes>();
    if (test.has_bias) {
        auto const gradient = program.graph().tensor(fe::graph::Tensor_attributes());
        program.output(gradient, d_bias);
        attributes.set_drel_pos_bias(gradient);
    }
    auto const gradients =
        program.graph().neighborhood_qk_backward(program.input(d_attn), program.input(q), program.input(k), attributes);
    program.output(gradients[0], d_q);
    program.output(gradients[1], d_k);
    std::string fault = program.run(target);
    if (!fault.empty()) return fault;

    Comparison comparison(test, unit);
    BiasGradients of_bias;
    for_each_head(test, [&](std::int64_t b, std::int64_t h) {
        formula::Head head = head_of(test);
        head.q = q.head(b, h), head.k = k.head(b, h);
        auto const wanted = formula::qk_backward(head, d_attn.head(b, h));
        comparison.check("dQ", d_q, b, h, wanted.q);
        comparison.check("dK", d_k, b, h, wanted.k);
        of_bias[h] = sum(of_bias[h], wanted.bias);
    });
    if (test.has_bias) {
        for (auto const& [h, wanted] : of_bias) comparison.check("dRel_pos_bias", d_bias, 0, h, wanted);
    }
    return comparison.fault();
}

static std::string check_av(NeighborhoodCase const& test, fe::Target const& target, double unit) {
    TensorMaker make(test, false);
    Rows const attn = make.filled(make.slots()), v = make.filled(make.tokens()), d_o = make.filled(make.tokens()),
               o = make.tokens(), d_attn = make.slots(), d_v = make.tokens();
    Program forward(test), backward(test);
    auto const sums = forward.graph().neighborhood_av(forward.input(attn), forward.input(v),
                                                      forward.windows<fe::graph::Neighborhood_av_attributes>());
    forward.output(sums, o);
    auto const gradients =
        backward.graph().neighborhood_av_backward(backward.input(d_o), backward.input(attn), backward.input(v),
                                                  backward.windows<fe::graph::Neighborhood_av_backward_attributes>());
    backward.output(gradients[0], d_attn);
    backward.output(gradients[1], d_v);
    for (Program* const program : {&forward, &backward}) {
        std::string fault = program->run(target);
        if (!fault.empty()) return fault;
    }

    Comparison comparison(test, unit);
    for_each_head(test, [&](std::int64_t b, std::int64_t h) {
        formula::Head head = head_of(test);
        head.v = v.head(b, h);
        comparison.check("O", o, b, h, formula::av_forward(head, attn.head(b, h)));
        auto const wanted = formula::av_backward(head, attn.head(b, h), d_o.head(b, h));
        comparison.check("dAttn", d_attn, b, h, wanted.attn);
        comparison.check("dV", d_v, b, h, wanted.v);
    });
    return comparison.fault();
}

std::string check_neighborhood_products(NeighborhoodCase const& test, fe::Target const& target, double unit) {
    for (auto* const check : {check_qk, check_qk_backward, check_av}) {
        std::string fault = check(test, target, unit);
        if (!fault.empty()) return fault;
    }
    return {};
}

}  // namespace sdpa_test
