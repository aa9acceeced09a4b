// sdpa new: a graph of attention from options, as JSON, for all other subcommands.
#include "data/memory.h"
#include "output.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace sdpa {
namespace {

struct New_options {
    std::int64_t batches = 1, heads = 8, key_heads = 0, queries = 1024, keys = 0, depth = 128, value_depth = 0;
    int left = 0, right = 0;
    std::string type = "bfloat16", pass = "inference", layout = "bshd", name;
    bool is_causal = false, is_bottom_right = false, has_lengths = false, has_alibi = false;
};

using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

class Maker {
   public:
    explicit Maker(New_options const& options) : options_(options) {
        if (options_.key_heads == 0) options_.key_heads = options_.heads;
        if (options_.keys == 0) options_.keys = options_.queries;
        if (options_.value_depth == 0) options_.value_depth = options_.depth;
        need_elements(options_.heads, options_.queries, std::max(options_.depth, options_.value_depth));
        need_elements(options_.key_heads, options_.keys, std::max(options_.depth, options_.value_depth));
        graph_.set_name(options_.name).set_io_data_type(type()).set_intermediate_data_type(fe::DataType_t::FLOAT);
        graph_.set_compute_data_type(fe::DataType_t::FLOAT);
    }

    std::string json() {
        if (options_.pass == "backward") add_backward();
        else add_forward();
        std::string text;
        require(graph_.serialize(text));
        return text;
    }

   private:
    // Strides are products of sizes.
    void need_elements(std::int64_t heads, std::int64_t tokens, std::int64_t depth) const {
        double const elements = double(options_.batches) * double(heads) * double(tokens) * double(depth);
        if (elements > 0x1p62)
            throw Failure("", number_text(elements) + " elements of a tensor", "2^62 at most", "smaller sizes");
    }
    fe::DataType_t type() const {
        if (options_.type == "half") return fe::DataType_t::HALF;
        return options_.type == "float" ? fe::DataType_t::FLOAT : fe::DataType_t::BFLOAT16;
    }

    // {batch, heads, tokens, head dim}, in memory in the order of the layout.
    fe::graph::Tensor_attributes rows(char const* name, std::int64_t heads, std::int64_t tokens,
                                      std::int64_t depth) const {
        bool const has_heads_first = options_.layout == "bhsd";
        return fe::graph::Tensor_attributes()
            .set_name(name)
            .set_dim({options_.batches, heads, tokens, depth})
            .set_stride({heads * tokens * depth, has_heads_first ? tokens * depth : depth,
                         has_heads_first ? depth : heads * depth, 1});
    }
    Tensor lengths(char const* name) {
        return graph_.tensor(fe::graph::Tensor_attributes()
                                 .set_name(name)
                                 .set_dim({options_.batches, 1, 1, 1})
                                 .set_stride({1, 1, 1, 1})
                                 .set_data_type(fe::DataType_t::INT32));
    }

    template <class Attributes>
    void set_options(Attributes& to) {
        to.set_name("attention").set_attn_scale(1.0F / std::sqrt(static_cast<float>(options_.depth)));
        if (options_.is_causal && !options_.is_bottom_right) to.set_causal_mask(true);
        if (options_.is_causal && options_.is_bottom_right) to.set_causal_mask_bottom_right(true);
        if (options_.left > 0) to.set_diagonal_band_left_bound(options_.left);
        if (options_.right > 0) to.set_diagonal_band_right_bound(options_.right);
        if (options_.is_bottom_right) to.set_diagonal_alignment(fe::DiagonalAlignment_t::BOTTOM_RIGHT);
        if (options_.has_alibi) to.set_alibi_mask(true);
        if (options_.has_lengths)
            to.set_padding_mask(true).set_seq_len_q(lengths("seq_len_q")).set_seq_len_kv(lengths("seq_len_kv"));
    }

    void add_operands() {
        q_ = graph_.tensor(rows("Q", options_.heads, options_.queries, options_.depth));
        k_ = graph_.tensor(rows("K", options_.key_heads, options_.keys, options_.depth));
        v_ = graph_.tensor(rows("V", options_.key_heads, options_.keys, options_.value_depth));
    }
    // A result, in the layout of an operand.
    static void ask_for(Tensor const& result, fe::graph::Tensor_attributes const& as) {
        result->set_output(true).set_name(as.get_name()).set_dim(as.get_dim()).set_stride(as.get_stride());
    }

    void add_forward() {
        fe::graph::SDPA_attributes attributes;
        set_options(attributes);
        attributes.set_generate_stats(options_.pass == "training");
        add_operands();
        auto const [o, stats] = graph_.sdpa(q_, k_, v_, attributes);
        ask_for(o, rows("O", options_.heads, options_.queries, options_.value_depth));
        if (stats) stats->set_output(true).set_name("Stats").set_data_type(fe::DataType_t::FLOAT);
    }

    void add_backward() {
        fe::graph::SDPA_backward_attributes attributes;
        set_options(attributes);
        add_operands();
        auto const results = rows("O", options_.heads, options_.queries, options_.value_depth);
        Tensor const o = graph_.tensor(results);
        Tensor const dO = graph_.tensor(fe::graph::Tensor_attributes(results).set_name("dO"));
        Tensor const stats = graph_.tensor(fe::graph::Tensor_attributes()
                                               .set_name("Stats")
                                               .set_dim({options_.batches, options_.heads, options_.queries, 1})
                                               .set_stride({options_.heads * options_.queries, options_.queries, 1, 1})
                                               .set_data_type(fe::DataType_t::FLOAT));
        auto const [dQ, dK, dV] = graph_.sdpa_backward(q_, k_, v_, o, dO, stats, attributes);
        ask_for(dQ, rows("dQ", options_.heads, options_.queries, options_.depth));
        ask_for(dK, rows("dK", options_.key_heads, options_.keys, options_.depth));
        ask_for(dV, rows("dV", options_.key_heads, options_.keys, options_.value_depth));
    }

    New_options options_;
    fe::graph::Graph graph_;
    Tensor q_, k_, v_;
};

int make(New_options const& options) {
    std::string const text = Maker(options).json();
    print(text.ends_with('\n') ? text : text + "\n");
    return kYes;
}

void add_sizes(CLI::App& command, New_options& options) {
    auto const add = [&](char const* name, auto& size, char const* help) {
        return command.add_option(name, size, help)->check(at_least(1));
    };
    add("--batch", options.batches, "Batch entries")->capture_default_str();
    add("--heads", options.heads, "Heads of Q")->capture_default_str();
    add("--key-heads", options.key_heads, "Heads of K and V; the default is --heads");
    add("--queries,--tokens", options.queries, "Rows of Q; 1 for decode")->capture_default_str();
    add("--keys", options.keys, "Rows of K and V; the default is --queries");
    add("--head-dim", options.depth, "Columns of Q and K")->capture_default_str();
    add("--value-dim", options.value_depth, "Columns of V; the default is --head-dim");
    add("--left", options.left,
        "Each query sees at most this many keys up to its own, which counts; --causal hides later ones");
    add("--right", options.right, "This many keys after the query's own are visible");
}

}  // namespace

void add_new(CLI::App& app, Action& action) {
    auto const options = std::make_shared<New_options>();
    CLI::App* const command = app.add_subcommand("new", "A graph of attention from options, as JSON");
    add_sizes(*command, *options);
    command->add_flag("--causal", options->is_causal, "A query sees the keys up to its own position");
    command->add_flag("--bottom-right", options->is_bottom_right, "The last query is at the last key");
    command->add_flag("--lengths", options->has_lengths, "A padding mask, with a length for each sequence");
    command->add_flag("--alibi", options->has_alibi, "The bias of ALiBi");
    auto const choose = [&](char const* name, std::string& value, char const* help, std::vector<std::string> choices) {
        command->add_option(name, value, help)->capture_default_str()->check(CLI::IsMember(std::move(choices)));
    };
    choose("--type", options->type, "The type of the tensors", {"bfloat16", "half", "float"});
    choose("--pass", options->pass, "training also has Stats", {"inference", "training", "backward"});
    choose("--layout", options->layout, "The order in memory: batch, tokens, heads, columns; or heads before tokens",
           {"bshd", "bhsd"});
    command->add_option("--name", options->name, "The graph's name");
    command->footer(footer(
        "  sdpa new --heads 32 --key-heads 8 --tokens 8192 --causal > prefill.json\n"
        "  sdpa new --batch 16 --heads 32 --key-heads 8 --queries 1 --keys 8192 --lengths | sdpa explain - --for h100",
        "0: it was printed; sdpa explain says whether it is valid"));
    command->callback([options, &action] { action = [options] { return make(*options); }; });
}

}  // namespace sdpa
