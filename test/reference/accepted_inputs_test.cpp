// Programs pass tensors of other types than usual, and options that change nothing: both are accepted.
#include "reference/cases/random_case.h"
#include "reference/checks/check_case.h"
#include "support/catch.h"

#include <map>
using namespace sdpa_test;
using cudnn_frontend::graph::SDPA_attributes;
using cudnn_frontend::graph::Tensor_attributes;

namespace {

constexpr std::uint64_t kCases = 600;

Target target_of(std::uint64_t index) { return index % 4 == 0 ? Target::reference() : Target::cpu(1); }

// Runs the random cases that fit, changed, against the oracle; returns how many.
template <class Fits, class Change>
int sweep(Fits const& fits, Change const& change) {
    int count = 0;
    for (std::uint64_t index = 0; index < kCases; ++index) {
        AttentionCase c = random_wide_case(index);
        if (!fits(c)) continue;
        change(c);
        INFO("case " << index << ": " << describe(c));
        CHECK(check_case(c, target_of(index)) == "");
        ++count;
    }
    return count;
}

bool has_own_lengths(AttentionCase const& c) { return c.len_q && !c.sums_of_lengths; }

}  // namespace

TEST_CASE("lengths of 64 bits are read as those of 32 bits are") {
    CHECK(sweep(has_own_lengths, [](AttentionCase& c) { c.length_type = DataType_t::INT64; }) > 50);
}

TEST_CASE("Stats of 16 bits are those of FLOAT, rounded") {
    for (DataType_t const type : {DataType_t::HALF, DataType_t::BFLOAT16}) {
        CHECK(sweep([](AttentionCase const& c) { return c.generate_stats; },
                    [&](AttentionCase& c) { c.stats_type = type; }) > 100);
    }
}

TEST_CASE("pages with lengths are masked by them, whether the padding mask is set or not") {
    CHECK(sweep([](AttentionCase const& c) { return bool(c.paging); },
                [](AttentionCase& c) { c.omits_padding_mask = true; }) > 20);
}

TEST_CASE("predicates of INT32 mask as those of BOOLEAN do") {
    CHECK(sweep([](AttentionCase const& c) { return c.modifier == oracle::Modify::Causal; },
                [](AttentionCase& c) { c.integer_predicates = true; }) > 5);
}

TEST_CASE("lengths without the padding mask change nothing, and need no memory") {
    int count = 0;
    for (std::uint64_t index = 0; index < kCases; ++index) {
        AttentionCase c = random_wide_case(index);
        if (!c.len_q || c.paging || is_ragged(c.input_layout) || is_ragged(c.output_layout)) continue;
        if (is_ragged(c.keys_layout.value_or(c.input_layout)) || is_ragged(c.layout_of_stats())) continue;
        if (c.nan_in_padding || c.wild_rows) continue;
        INFO("case " << index << ": " << describe(c));
        Inputs const with = make_inputs(c);
        Inputs without = with;
        without.len_q = without.len_kv = {};
        c.omits_padding_mask = true;
        ForwardOutputs const a = make_forward_outputs(c), b = make_forward_outputs(c);
        Session session(c, with, a), plain(c, without, b);
        REQUIRE(session.build(target_of(index)).get_message() == "");
        auto pack = session.pack_by_uid();
        for (HostTensor const& lengths : {with.len_q, with.len_kv}) pack.erase(session.tensor_of(lengths)->get_uid());
        HostMemory const workspace(session.graph().get_workspace_size());
        REQUIRE(session.graph().execute(pack, workspace.data(), workspace.size()).get_message() == "");
        REQUIRE(plain.run(target_of(index)).get_message() == "");
        CHECK(same_bits(a.o, b.o));
        if (a.stats) CHECK(same_bits(a.stats, b.stats));
        ++count;
    }
    CHECK(count > 20);
}

namespace {

AttentionCase plain_case() {
    AttentionCase c;
    c.b = 2, c.h_q = c.h_k = c.h_v = 2, c.s_q = 5, c.s_kv = 7, c.d_qk = c.d_v = 8;
    return c;
}

// Forward of Q, K and V of a case, with options that cases do not have.
class Program {
   public:
    Program(Inputs const& in, SDPA_attributes const& options, ForwardOutputs const& out) {
        graph_.set_io_data_type(DataType_t::FLOAT).set_intermediate_data_type(DataType_t::FLOAT);
        graph_.set_compute_data_type(DataType_t::FLOAT);
        auto const [o, stats] = graph_.sdpa(input(in.q), input(in.k), input(in.v), options);
        bind(graph_.output(o), out.o);
        bind(graph_.output(stats), out.stats);
    }

    // Returns the advice.
    std::string run(Target const& target) {
        REQUIRE(graph_.build(target).get_message() == "");
        HostMemory const workspace(graph_.get_workspace_size());
        REQUIRE(graph_.execute(pack_, workspace.data(), workspace.size()).get_message() == "");
        return graph_.advice().to_text();
    }

   private:
    TensorPtr input(HostTensor const& memory) {
        TensorPtr const tensor = graph_.tensor(Tensor_attributes());
        bind(tensor, memory);
        return tensor;
    }
    void bind(TensorPtr const& tensor, HostTensor const& memory) {
        tensor->set_uid(static_cast<std::int64_t>(pack_.size()) + 1);
        tensor->set_dim({memory.dim.begin(), memory.dim.end()});
        tensor->set_stride({memory.stride.begin(), memory.stride.end()});
        pack_[tensor->get_uid()] = memory.data();
    }

    Graph graph_;
    std::map<std::int64_t, void*> pack_;
};

bool has(std::string const& text, char const* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("max_seq_len_kv without a page table changes nothing") {
    AttentionCase const c = plain_case();
    Inputs const in = make_inputs(c);
    for (Target const& target : {Target::reference(), Target::cpu(1)}) {
        ForwardOutputs const a = make_forward_outputs(c), b = make_forward_outputs(c);
        auto const options = SDPA_attributes().set_generate_stats(true);
        CHECK_FALSE(has(Program(in, options, a).run(target), "advice.a16"));
        auto stated = options;
        CHECK(has(Program(in, stated.set_paged_attention_max_seq_len_kv(3), b).run(target), "advice.a16"));
        CHECK(same_bits(a.o, b.o));
        CHECK(same_bits(a.stats, b.stats));
    }
}
