#include "reference/cases/neighborhood_case.h"

#include "reference/checks/tolerance.h"
#include "support/random.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <sstream>

namespace sdpa_test {
namespace {

namespace fe = cudnn_frontend;
namespace formula = neighborhood_formula;
using formula::Numbers;
using TensorPtr = std::shared_ptr<fe::graph::Tensor_attributes>;
using Dims = std::vector<std::int64_t>;

// A caller's tensor by heads: the numbers of a batch entry and head, in row-major order of all other dims.
class Rows {
   public:
    // Without a batch dim, all entries share the numbers.
    struct Places {
        std::optional<std::size_t> batch;
        std::size_t head;
    };

    Rows(Dims dim, Places const& places, DataType_t type, NeighborhoodLayout layout)
        : dim_(std::move(dim)), stride_(dim_.size()), places_(places) {
        std::vector<std::size_t> const order = order_in_memory(dim_.size(), places, layout);
        std::int64_t next = 1;
        for (std::size_t i = order.size(); i-- > 0;) {
            stride_[order[i]] = next;
            next *= dim_[order[i]];
            if (layout == NeighborhoodLayout::Scattered) next += 3;
            if (layout == NeighborhoodLayout::Spaced) next = (next + 15) / 8 * 8;
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

    // Whether the memory between the elements is still the NaN that all memory starts as.
    bool has_untouched_gaps() const {
        std::vector<bool> is_element(static_cast<std::size_t>(memory_.dim[3]));
        std::int64_t const batches = places_.batch ? dim_[*places_.batch] : 1;
        for (std::int64_t b = 0; b < batches; ++b) {
            for (std::int64_t h = 0; h < dim_[places_.head]; ++h) {
                for (std::int64_t n = 0; n < per_head(); ++n) {
                    is_element[static_cast<std::size_t>(place(b, h, n)[3])] = true;
                }
            }
        }
        for (std::size_t i = 0; i < is_element.size(); ++i) {
            if (!is_element[i] && !std::isnan(memory_.get({0, 0, 0, static_cast<std::int64_t>(i)}))) return false;
        }
        return true;
    }

   private:
    // The dims from the outermost to the innermost.
    static std::vector<std::size_t> order_in_memory(std::size_t rank, Places const& places, NeighborhoodLayout layout) {
        std::vector<std::size_t> order(rank);
        std::iota(order.begin(), order.end(), std::size_t{0});
        if (layout == NeighborhoodLayout::HeadsFirst && places.batch) {
            auto const head = order.begin() + static_cast<std::ptrdiff_t>(places.head);
            std::rotate(order.begin() + 1, head, head + 1);
        }
        if (layout == NeighborhoodLayout::Scattered) std::rotate(order.begin(), order.begin() + 2, order.end());
        if (layout == NeighborhoodLayout::Spaced && rank > 3) std::swap(order[rank - 2], order[rank - 3]);
        return order;
    }

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
    Rows stats() const { return {dims(0), places(), DataType_t::FLOAT, test_.layout}; }
    Rows bias() const {
        Dims dim{test_.heads};
        for (formula::Axis const& axis : test_.axes) dim.push_back(2 * axis.kernel - 1);
        return {dim, {{}, 0}, test_.type, test_.layout};
    }
    Rows filled_bias() {
        Rows const entries = filled(bias());
        std::size_t const count = static_cast<std::size_t>(head_of(test_).bias_entries());
        if (test_.masks_first_head) entries.set_head(0, 0, Numbers(count, -std::numeric_limits<double>::infinity()));
        return entries;
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
    Rows rows(std::int64_t columns) const { return {dims(columns), places(), test_.type, test_.layout}; }
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
        tensors_.inputs[describe(tensor, rows)] = rows.memory();
        return tensor;
    }
    void output(TensorPtr const& tensor, Rows const& rows) {
        tensors_.outputs[describe(tensor, rows)] = rows.memory();
        tensor->set_output(true);
    }
    // An output, or a virtual tensor where nobody asks for the result.
    void result(AttentionResult kind, TensorPtr const& tensor, Rows const& rows) {
        if (!test_.left_out.contains(kind)) return output(tensor, rows);
        tensor->set_data_type(rows.memory().type);
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

    // The first fault; empty if there is none.
    std::string run(GraphRunner const& runner) {
        std::vector<HostTensor> all, results;
        for (auto const& [uid, tensor] : tensors_.inputs) all.push_back(tensor);
        for (auto const& [uid, tensor] : tensors_.outputs) results.push_back(tensor), all.push_back(tensor);
        MemorySnapshot const before(all);
        std::string fault = runner(graph_, tensors_);
        return fault.empty() ? before.change_outside(results) : fault;
    }

   private:
    std::int64_t describe(TensorPtr const& tensor, Rows const& rows) {
        auto const uid = static_cast<std::int64_t>(tensors_.inputs.size() + tensors_.outputs.size()) + 1;
        tensor->set_uid(uid).set_dim(rows.dim()).set_stride(rows.stride()).set_data_type(rows.memory().type);
        return uid;
    }

    NeighborhoodCase const& test_;
    fe::graph::Graph graph_;
    GraphTensors tensors_;
};

// The rounding of numbers of the results' type; sums of single precision come in any order.
double rounding_of(DataType_t type) {
    return type == DataType_t::BFLOAT16 ? 0x1p-8 : type == DataType_t::HALF ? 0x1p-11 : 0x1p-19;
}

// Collects the expected results, and the places where the actual ones differ.
class Comparison {
   public:
    explicit Comparison(NeighborhoodError const& error, ResultSet left_out = {})
        : error_(error), left_out_(std::move(left_out)) {}

    void expect(char const* name, Rows const& rows, std::int64_t batch, std::int64_t head, Numbers const& wanted) {
        double& largest = largest_[name];
        for (double const number : wanted) {
            if (std::isfinite(number)) largest = std::max(largest, std::abs(number));
        }
        parts_.push_back({name, &rows, batch, head, wanted});
    }
    // Nothing is expected of a result that is left out.
    void expect(AttentionResult kind, char const* name, Rows const& rows, std::int64_t batch, std::int64_t head,
                Numbers const& wanted) {
        if (!left_out_.contains(kind)) expect(name, rows, batch, head, wanted);
    }

    // The text of the first difference; empty if there is none.
    std::string fault() const {
        for (Part const& part : parts_) {
            std::string text = fault_of(part);
            if (!text.empty()) return text;
            bool const is_first = part.batch == 0 && part.head == 0;
            if (is_first && !part.rows->has_untouched_gaps())
                return std::string(part.name) + " has bytes changed between elements";
        }
        return {};
    }

   private:
    struct Part {
        char const* name;
        Rows const* rows;
        std::int64_t batch, head;
        Numbers wanted;
    };

    std::string fault_of(Part const& part) const {
        Numbers const found = part.rows->head(part.batch, part.head);
        if (found.size() != part.wanted.size()) return std::string(part.name) + " has another number of elements";
        DataType_t const type = part.rows->memory().type;
        double const of_tensor = error_.absolute + error_.roundings * rounding_of(type) * largest_.at(part.name);
        for (std::size_t i = 0; i < found.size(); ++i) {
            double const wanted = part.wanted[i], allowed = of_tensor + oracle::storage_error(type, std::abs(wanted));
            bool const is_close = std::isfinite(wanted) && std::abs(found[i] - wanted) <= allowed;
            if (is_close || found[i] == wanted) continue;
            std::ostringstream text;
            text << part.name << " of batch entry " << part.batch << ", head " << part.head << ", number " << i
                 << " is " << found[i] << "; expected " << wanted << " with an error of at most " << allowed;
            return text.str();
        }
        return {};
    }

    NeighborhoodError error_;
    ResultSet left_out_;
    std::map<std::string, double> largest_;
    std::vector<Part> parts_;
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
    constexpr char const* kLayouts[] = {"", ", heads first", ", spaced", ", scattered"};
    std::ostringstream out;
    out << "seed " << seed << ", B " << batches << ", H " << heads << ", D " << width << ", " << name_of(type);
    for (formula::Axis const& axis : axes) {
        out << ", length " << axis.length << " kernel " << axis.kernel << " dilation " << axis.dilation
            << (axis.is_causal ? " causal" : "");
    }
    return out.str() + (has_bias ? ", bias" : "") + (masks_first_head ? " that masks a head" : "") +
           kLayouts[static_cast<int>(layout)] + (scale ? ", scale" : "");
}

static std::int64_t random_kernel(Random& random, std::int64_t most, bool is_odd) {
    std::int64_t const kernel = random.between(1, random.flip() ? most : std::min<std::int64_t>(most, 7));
    return is_odd && kernel % 2 == 0 ? kernel - 1 : kernel;
}

NeighborhoodCase random_neighborhood_case(std::uint64_t seed, NeighborhoodSizes const& sizes) {
    Random random(seed);
    NeighborhoodCase test;
    test.seed = seed;
    test.batches = random.between(1, 2);
    test.heads = random.between(1, 3);
    test.width =
        sizes.widths[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(sizes.widths.size()) - 1))];
    test.type = random.pick({DataType_t::FLOAT, DataType_t::HALF, DataType_t::BFLOAT16});
    test.layout = random.pick({NeighborhoodLayout::Packed, NeighborhoodLayout::Spaced, NeighborhoodLayout::Scattered});
    test.generates_stats = random.flip();
    if (random.flip())
        test.scale = static_cast<float>(random.real(-2.0, 2.0) / std::sqrt(static_cast<double>(test.width)));
    std::int64_t const rank = random.between(1, 3), longest = sizes.longest[static_cast<std::size_t>(rank - 1)];
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
    test.masks_first_head = test.has_bias && random.chance(0.2);
    return test;
}

GraphRunner runner_on_host(fe::Target const& target) {
    return [target](fe::graph::Graph& graph, GraphTensors const& tensors) -> std::string {
        auto error = graph.build(target);
        if (error.is_bad()) return error.err_msg;
        std::map<std::int64_t, void*> pack;
        for (auto const* const list : {&tensors.inputs, &tensors.outputs}) {
            for (auto const& [uid, tensor] : *list) pack[uid] = tensor.data();
        }
        HostMemory const workspace(graph.get_workspace_size());
        error = graph.execute(nullptr, pack, workspace.data());
        if (error.is_bad()) return error.err_msg;
        return workspace.guards_intact() ? "" : "memory beside the workspace was written";
    };
}

// A result adds up no more than `terms` numbers of magnitude 1, each the product of two sums over the width.
NeighborhoodError error_of_sums(NeighborhoodCase const& test, double unit) {
    double terms = 1.0;
    for (formula::Axis const& axis : test.axes) terms *= static_cast<double>(2 * axis.kernel);
    auto const width = static_cast<double>(test.width);
    return {.absolute = 8.0 * unit * width * (width + terms)};
}

NeighborhoodError error_on_cpu(NeighborhoodCase const& test) {
    NeighborhoodError error = error_of_sums(test, 0x1p-24);
    if (test.type == DataType_t::BFLOAT16) error.roundings = 3.0;
    return error;
}

static std::string check_fused_forward(NeighborhoodCase const& test, GraphRunner const& runner,
                                       NeighborhoodError const& error) {
    TensorMaker make(test, true);
    Rows const q = make.filled(make.tokens()), k = make.filled(make.tokens()), v = make.filled(make.tokens()),
               bias = make.filled_bias(), o = make.tokens(), stats = make.stats();
    Program program(test);
    auto attributes = program.windows<fe::graph::Neighborhood_attributes>().set_generate_stats(test.generates_stats);
    if (test.scale) attributes.set_attn_scale(*test.scale);
    if (test.has_bias) attributes.set_rel_pos_bias(program.input(bias));
    auto const results =
        program.graph().neighborhood_attention(program.input(q), program.input(k), program.input(v), attributes);
    program.result(AttentionResult::O, results[0], o);
    if (test.generates_stats) program.result(AttentionResult::Stats, results[1], stats);
    std::string fault = program.run(runner);
    if (!fault.empty()) return fault;

    Comparison comparison(error, test.left_out);
    for_each_head(test, [&](std::int64_t b, std::int64_t h) {
        formula::Head head = head_of(test);
        head.q = q.head(b, h), head.k = k.head(b, h), head.v = v.head(b, h);
        if (test.has_bias) head.bias = bias.head(b, h);
        auto const wanted = formula::fused_forward(head);
        comparison.expect(AttentionResult::O, "O", o, b, h, wanted.o);
        if (test.generates_stats) comparison.expect(AttentionResult::Stats, "Stats", stats, b, h, wanted.stats);
    });
    return comparison.fault();
}

// O and Stats are the formula's, rounded to their types.
static std::string check_fused_backward(NeighborhoodCase const& test, GraphRunner const& runner,
                                        NeighborhoodError const& error) {
    TensorMaker make(test, true);
    Rows const q = make.filled(make.tokens()), k = make.filled(make.tokens()), v = make.filled(make.tokens()),
               d_o = make.filled(make.tokens()), bias = make.filled_bias(), o = make.tokens(), stats = make.stats(),
               d_q = make.tokens(), d_k = make.tokens(), d_v = make.tokens(), d_bias = make.bias();
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
    program.result(AttentionResult::DQ, gradients[0], d_q);
    program.result(AttentionResult::DK, gradients[1], d_k);
    program.result(AttentionResult::DV, gradients[2], d_v);
    std::string fault = program.run(runner);
    if (!fault.empty()) return fault;

    Comparison comparison(error, test.left_out);
    BiasGradients of_bias;
    for_each_head(test, [&](std::int64_t b, std::int64_t h) {
        auto const wanted = formula::fused_backward(inputs_of(b, h), o.head(b, h), stats.head(b, h), d_o.head(b, h));
        comparison.expect(AttentionResult::DQ, "dQ", d_q, b, h, wanted.q);
        comparison.expect(AttentionResult::DK, "dK", d_k, b, h, wanted.k);
        comparison.expect(AttentionResult::DV, "dV", d_v, b, h, wanted.v);
        of_bias[h] = sum(of_bias[h], wanted.bias);
    });
    if (test.has_bias) {
        for (auto const& [h, wanted] : of_bias) comparison.expect("dRel_pos_bias", d_bias, 0, h, wanted);
    }
    return comparison.fault();
}

static std::string check_qk(NeighborhoodCase const& test, GraphRunner const& runner, NeighborhoodError const& error) {
    TensorMaker make(test, false);
    Rows const q = make.filled(make.tokens()), k = make.filled(make.tokens()), bias = make.filled_bias(),
               attn = make.slots();
    Program program(test);
    auto attributes = program.windows<fe::graph::Neighborhood_qk_attributes>();
    if (test.has_bias) attributes.set_rel_pos_bias(program.input(bias));
    program.output(program.graph().neighborhood_qk(program.input(q), program.input(k), attributes), attn);
    std::string fault = program.run(runner);
    if (!fault.empty()) return fault;

    Comparison comparison(error);
    for_each_head(test, [&](std::int64_t b, std::int64_t h) {
        formula::Head head = head_of(test);
        head.q = q.head(b, h), head.k = k.head(b, h);
        if (test.has_bias) head.bias = bias.head(b, h);
        comparison.expect("Attn", attn, b, h, formula::qk_forward(head));
    });
    return comparison.fault();
}

static std::string check_qk_backward(NeighborhoodCase const& test, GraphRunner const& runner,
                                     NeighborhoodError const& error) {
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
    std::string fault = program.run(runner);
    if (!fault.empty()) return fault;

    Comparison comparison(error);
    BiasGradients of_bias;
    for_each_head(test, [&](std::int64_t b, std::int64_t h) {
        formula::Head head = head_of(test);
        head.q = q.head(b, h), head.k = k.head(b, h);
        auto const wanted = formula::qk_backward(head, d_attn.head(b, h));
        comparison.expect("dQ", d_q, b, h, wanted.q);
        comparison.expect("dK", d_k, b, h, wanted.k);
        of_bias[h] = sum(of_bias[h], wanted.bias);
    });
    if (test.has_bias) {
        for (auto const& [h, wanted] : of_bias) comparison.expect("dRel_pos_bias", d_bias, 0, h, wanted);
    }
    return comparison.fault();
}

static std::string check_av(NeighborhoodCase const& test, GraphRunner const& runner, NeighborhoodError const& error) {
    TensorMaker make(test, false);
    Rows const attn = make.filled(make.slots()), v = make.filled(make.tokens()), o = make.tokens();
    Program program(test);
    program.output(program.graph().neighborhood_av(program.input(attn), program.input(v),
                                                   program.windows<fe::graph::Neighborhood_av_attributes>()),
                   o);
    std::string fault = program.run(runner);
    if (!fault.empty()) return fault;

    Comparison comparison(error);
    for_each_head(test, [&](std::int64_t b, std::int64_t h) {
        formula::Head head = head_of(test);
        head.v = v.head(b, h);
        comparison.expect("O", o, b, h, formula::av_forward(head, attn.head(b, h)));
    });
    return comparison.fault();
}

static std::string check_av_backward(NeighborhoodCase const& test, GraphRunner const& runner,
                                     NeighborhoodError const& error) {
    TensorMaker make(test, false);
    Rows const attn = make.filled(make.slots()), v = make.filled(make.tokens()), d_o = make.filled(make.tokens()),
               d_attn = make.slots(), d_v = make.tokens();
    Program program(test);
    auto const gradients =
        program.graph().neighborhood_av_backward(program.input(d_o), program.input(attn), program.input(v),
                                                 program.windows<fe::graph::Neighborhood_av_backward_attributes>());
    program.output(gradients[0], d_attn);
    program.output(gradients[1], d_v);
    std::string fault = program.run(runner);
    if (!fault.empty()) return fault;

    Comparison comparison(error);
    for_each_head(test, [&](std::int64_t b, std::int64_t h) {
        formula::Head head = head_of(test);
        head.v = v.head(b, h);
        auto const wanted = formula::av_backward(head, attn.head(b, h), d_o.head(b, h));
        comparison.expect("dAttn", d_attn, b, h, wanted.attn);
        comparison.expect("dV", d_v, b, h, wanted.v);
    });
    return comparison.fault();
}

bool takes(NeighborhoodFunction function, NeighborhoodCase const& test) {
    return function <= NeighborhoodFunction::Backward ||
           std::all_of(test.axes.begin(), test.axes.end(),
                       [](formula::Axis const& axis) { return axis.kernel % 2 == 1; });
}

std::string check_neighborhood(NeighborhoodFunction function, NeighborhoodCase const& test, GraphRunner const& runner,
                               NeighborhoodError const& error) {
    switch (function) {
        case NeighborhoodFunction::Forward: return check_fused_forward(test, runner, error);
        case NeighborhoodFunction::Backward: return check_fused_backward(test, runner, error);
        case NeighborhoodFunction::Qk: return check_qk(test, runner, error);
        case NeighborhoodFunction::QkBackward: return check_qk_backward(test, runner, error);
        case NeighborhoodFunction::Av: return check_av(test, runner, error);
        default: return check_av_backward(test, runner, error);
    }
}

}  // namespace sdpa_test
