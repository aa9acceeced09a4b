// Invalid arguments of a run: an error that names the fault, and not a byte written.
#include "reference/checks/check_case.h"
#include "support/catch.h"

#include <functional>
#include <initializer_list>
#include <limits>

namespace {

using namespace sdpa_test;
using cudnn_frontend::error_code_t;
using cudnn_frontend::error_t;
using Pack = std::map<std::int64_t, void*>;

// A training problem with both passes, whose packs the tests make invalid.
struct Fixture {
    AttentionCase c;
    Inputs in = make_inputs(c);
    ForwardOutputs forward_out = make_forward_outputs(c);
    BackwardInputs more = make_backward_inputs(c, oracle::forward(to_problem(c, in, {})));
    BackwardOutputs backward_out = make_backward_outputs(c);
    Session forward{c, in, forward_out};
    Session backward{c, in, more, backward_out};
    char const* target_name;

    static AttentionCase make_case(Layout layout = Layout::Bhsd) {
        AttentionCase c;
        c.input_layout = c.output_layout = layout;
        c.seed = 5;
        c.b = 2, c.h_q = 2, c.h_k = c.h_v = 1, c.s_q = 6, c.s_kv = 9, c.d_qk = c.d_v = 8;
        c.len_q = {6, 4}, c.len_kv = {9, 2};
        return c;
    }
    explicit Fixture(Target const& target, Layout layout = Layout::Bhsd)
        : c(make_case(layout)), target_name(cudnn_frontend::to_string(target.kind())) {
        REQUIRE(forward.build(target).get_message() == "");
        REQUIRE(backward.build(target).get_message() == "");
    }
    std::vector<HostTensor> tensors() const {
        std::vector<HostTensor> all;
        for (auto const& list : {in.all(), forward_out.all(), more.all(), backward_out.all()}) {
            all.insert(all.end(), list.begin(), list.end());
        }
        return all;
    }
    std::int64_t uid(Session const& session, HostTensor const& tensor) const {
        return session.tensor_of(tensor)->get_uid();
    }
};

bool contains(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

// "uid 3", not a part of "uid 30".
bool names_uid(std::string const& text, std::int64_t uid) {
    std::string const name = "uid " + std::to_string(uid);
    std::size_t const at = text.find(name);
    if (at == std::string::npos) return false;
    std::size_t const end = at + name.size();
    return end == text.size() || text[end] < '0' || text[end] > '9';
}

void check_refused(Fixture const& fixture, error_code_t code, std::vector<std::string> const& parts,
                   std::function<error_t()> const& call) {
    MemorySnapshot const before(fixture.tensors());
    error_t const error = call();
    INFO("target: " << fixture.target_name);
    INFO("message: " << error.get_message());
    CHECK(error.get_code() == code);
    for (std::string const& part : parts) {
        INFO("wanted in the message: " << part);
        CHECK(contains(error.get_message(), part));
    }
    CHECK(before.change_outside({}) == "");
}

// Runs the pack with a workspace of the right size; the message must name the tensor and its uid.
void check_pack_refused(Fixture const& fixture, Session const& session, Pack const& pack, std::string const& tensor,
                        std::int64_t uid, std::vector<std::string> parts = {}) {
    HostMemory const workspace(session.graph().get_workspace_size());
    parts.push_back("'" + tensor + "'");
    check_refused(fixture, error_code_t::INVALID_VARIANT_PACK, parts, [&] {
        error_t const error = session.graph().execute(pack, workspace.data(), workspace.size());
        CHECK(names_uid(error.get_message(), uid));
        CHECK(contains(error.get_message(), "[" + error.where.rule + "] "));
        CHECK(error.where.tensor != "");
        return error;
    });
}

// Lengths are data, not a fault of the pack: the message names the tensor, the batch entry and both numbers.
void check_length_refused(Fixture const& fixture, Session const& session, std::string const& tensor,
                          std::string const& value, std::string const& limit) {
    HostMemory const workspace(session.graph().get_workspace_size());
    check_refused(fixture, error_code_t::INVALID_VALUE,
                  {"'" + tensor + "'", " " + value + " ", " " + limit + ",", "batch entry 1"},
                  [&] { return session.graph().execute(session.pack_by_uid(), workspace.data(), workspace.size()); });
}

// A generator, not a loop, so that sections run on each target.
Target each_target() { return GENERATE(0, 1) == 0 ? Target::reference() : Target::cpu(); }

}  // namespace

TEST_CASE("execute before build is an error") {
    Fixture built(Target::cpu());
    Session const fresh(built.c, built.in, built.forward_out);
    Pack const pack = built.forward.pack_by_uid();
    check_refused(built, error_code_t::GRAPH_EXECUTION_FAILED, {"build"},
                  [&] { return fresh.graph().execute(pack, nullptr); });
    check_refused(built, error_code_t::GRAPH_EXECUTION_FAILED, {"build"},
                  [&] { return fresh.graph().execute(pack, nullptr, 0); });
    check_refused(built, error_code_t::GRAPH_EXECUTION_FAILED, {"build"},
                  [&] { return Graph().execute(pack, nullptr); });
    std::int64_t bytes = -7;
    CHECK(fresh.graph().get_workspace_size(bytes).is_bad());
    CHECK(bytes == -7);
}

TEST_CASE("a tensor that is missing in the pack is named") {
    Fixture f(each_target());
    for (auto const& [name, tensor] :
         {std::pair{"q", f.in.q}, {"len_kv", f.in.len_kv}, {"attention::O", f.forward_out.o}}) {
        Pack pack = f.forward.pack_by_uid();
        std::int64_t const uid = f.uid(f.forward, tensor);
        pack.erase(uid);
        check_pack_refused(f, f.forward, pack, name, uid);
    }
    Pack pack = f.backward.pack_by_uid();
    std::int64_t const uid = f.uid(f.backward, f.more.stats);
    pack.erase(uid);
    check_pack_refused(f, f.backward, pack, "stats", uid);
}

TEST_CASE("an empty pack is an error") {
    Fixture f(each_target());
    check_pack_refused(f, f.forward, {}, "q", f.uid(f.forward, f.in.q));
}

TEST_CASE("a null pointer is named") {
    Fixture f(each_target());
    for (auto const& [name, tensor] :
         {std::pair{"v", f.in.v}, {"len_q", f.in.len_q}, {"attention::Stats", f.forward_out.stats}}) {
        Pack pack = f.forward.pack_by_uid();
        std::int64_t const uid = f.uid(f.forward, tensor);
        pack[uid] = nullptr;
        check_pack_refused(f, f.forward, pack, name, uid, {"[run.r06] ", "null"});
    }
}

TEST_CASE("a misaligned pointer is named") {
    Fixture f(each_target());
    for (auto const& [name, tensor] : {std::pair{"k", f.in.k}, {"attention::O", f.forward_out.o}}) {
        for (int bytes : {1, 2}) {
            Pack pack = f.forward.pack_by_uid();
            std::int64_t const uid = f.uid(f.forward, tensor);
            pack[uid] = tensor.data() + bytes;
            check_pack_refused(f, f.forward, pack, name, uid, {"[run.r07] ", "expected a multiple of"});
        }
    }
}

TEST_CASE("an output that shares memory with another tensor is named") {
    Fixture f(each_target());
    Pack pack = f.forward.pack_by_uid();
    std::int64_t const o = f.uid(f.forward, f.forward_out.o);
    SECTION("with an input") {
        pack[o] = f.in.q.data();
        check_pack_refused(f, f.forward, pack, "q", o);
    }
    SECTION("with a part of an input") {
        pack[o] = f.in.q.data() + 64;
        check_pack_refused(f, f.forward, pack, "q", o);
    }
    SECTION("with the lengths") {
        pack[f.uid(f.forward, f.in.len_q)] = f.forward_out.o.data();
        check_pack_refused(f, f.forward, pack, "len_q", o);
    }
    SECTION("with another output") {
        Pack gradients = f.backward.pack_by_uid();
        std::int64_t const d_k = f.uid(f.backward, f.backward_out.d_k), d_v = f.uid(f.backward, f.backward_out.d_v);
        gradients[d_k] = gradients[d_v];
        check_pack_refused(f, f.backward, gradients, "attention::dK", d_k);
        check_pack_refused(f, f.backward, gradients, "attention::dV", d_v);
    }
}

TEST_CASE("a ragged output that shares memory with another tensor is named") {
    Fixture f(each_target(), Layout::Ragged);
    Pack pack = f.forward.pack_by_uid(), gradients = f.backward.pack_by_uid();
    std::int64_t const o = f.uid(f.forward, f.forward_out.o), d_v = f.uid(f.backward, f.backward_out.d_v);
    SECTION("with the one that has the same rows") {
        pack[o] = f.in.q.data();
        check_pack_refused(f, f.forward, pack, "q", o);
    }
    SECTION("with rows of another width") {
        pack[o] = f.in.k.data();
        check_pack_refused(f, f.forward, pack, "k", o);
    }
    SECTION("with the last row of one") {
        pack[o] = f.in.v.element({1, 0, 1, 0});
        check_pack_refused(f, f.forward, pack, "v", o);
    }
    SECTION("with the lengths, which are not ragged") {
        pack[o] = f.in.len_q.data();
        check_pack_refused(f, f.forward, pack, "len_q", o);
    }
    SECTION("with another output") {
        gradients[d_v] = gradients[f.uid(f.backward, f.backward_out.d_k)];
        check_pack_refused(f, f.backward, gradients, "attention::dK", d_v, {"[run.r08] "});
    }
    SECTION("with an input of backward") {
        gradients[d_v] = gradients[f.uid(f.backward, f.in.v)];
        check_pack_refused(f, f.backward, gradients, "v", d_v);
    }
}

TEST_CASE("a ragged output may lie where no sequence of another tensor does") {
    for (Layout const layout : {Layout::RaggedPacked, Layout::RaggedHeads}) {
        Fixture f(each_target(), layout);
        CHECK(f.forward.execute().get_message() == "");
        CHECK(f.backward.execute().get_message() == "");
    }
    // dK and dV with one pointer, and offsets to its two halves, or slightly wrong ones.
    Fixture f(each_target(), Layout::Ragged);
    BackwardOutputs out = f.backward_out;
    std::int64_t const rows = 9 + 2, half = rows * 8;
    out.d_k.memory = out.d_v.memory = std::make_shared<HostMemory>(2 * half * element_size(DataType_t::FLOAT));
    out.d_v.offsets = std::make_shared<HostTensor>(make_tensor(f.c.offset_type, {3, 1, 1, 1}));
    for (std::int64_t const start : {half, half - 1}) {
        out.d_v.offsets->fill(
            [&](Index4 const& at) { return static_cast<double>(start) + f.backward_out.d_v.offsets->get(at); });
        Session apart(f.c, f.in, f.more, out);
        REQUIRE(apart.build(Target::cpu()).get_message() == "");
        std::string const message = apart.execute().get_message();
        if (start == half) CHECK(message == "");
        else CHECK(contains(message, "it shares with tensor 'attention::dV'"));
    }
}

TEST_CASE("inputs may share memory") {
    Fixture f(each_target());
    Pack pack = f.forward.pack_by_uid();
    pack[f.uid(f.forward, f.in.k)] = f.in.v.data();
    HostMemory const workspace(f.forward.graph().get_workspace_size());
    CHECK(f.forward.graph().execute(pack, workspace.data(), workspace.size()).get_message() == "");
}

TEST_CASE("a length out of range is named with its value and place") {
    Fixture f(each_target());
    Index4 const second{1, 0, 0, 0};
    SECTION("more queries than there are") {
        f.in.len_q.set(second, 7);
        check_length_refused(f, f.forward, "len_q", "7", "6");
        check_length_refused(f, f.backward, "len_q", "7", "6");
    }
    SECTION("more keys than there are") {
        f.in.len_kv.set(second, 1000000);
        check_length_refused(f, f.forward, "len_kv", "1000000", "9");
        check_length_refused(f, f.backward, "len_kv", "1000000", "9");
    }
    SECTION("negative") {
        f.in.len_kv.set(second, -1);
        check_length_refused(f, f.forward, "len_kv", "-1", "9");
    }
}

TEST_CASE("cumulative lengths that decrease, grow too fast or overflow are named with their place") {
    AttentionCase c = Fixture::make_case();
    c.sums_of_lengths = true;
    c.offset_type = DataType_t::INT64;
    Inputs const in = make_inputs(c);
    ForwardOutputs const out = make_forward_outputs(c);
    Session session(c, in, out);
    REQUIRE(session.build(each_target()).get_message() == "");
    auto const refusal = [&](std::vector<double> const& sums) {
        for (std::size_t i = 0; i < sums.size(); ++i) in.len_kv.set({static_cast<std::int64_t>(i), 0, 0, 0}, sums[i]);
        MemorySnapshot const before(out.all());
        cudnn_frontend::error_object const error = session.execute();
        CHECK(before.change_outside({}) == "");
        return error.get_message();
    };
    std::string const needed =
        "; expected lengths from 0 to 9, the size of the dim that they cut short. Try: correct the entry, or use "
        "larger "
        "dims; nothing was written.";
    CHECK(refusal({0, 9, 8}) ==
          "[run.r01] tensor 'len_kv': found cumulative lengths from 9 to 8 for batch entry 1" + needed);
    CHECK(refusal({0, 10, 12}) ==
          "[run.r01] tensor 'len_kv': found cumulative lengths from 0 to 10 for batch entry 0" + needed);
    CHECK(refusal({-0x1p62, 0x1p62, 0x1p62}) ==
          "[run.r01] tensor 'len_kv': found cumulative lengths from -4611686018427387904 to 4611686018427387904 for "
          "batch entry 0" +
              needed);
    CHECK(refusal({-0x1p63, 0x1p62, 0x1p62})
              .starts_with("[run.r01] tensor 'len_kv': found cumulative lengths from -9223372036854775808 to"));
}

TEST_CASE("an offset that overflows with its multiplier is named with its place") {
    AttentionCase c = Fixture::make_case();
    c.input_layout = Layout::Ragged;
    c.offset_type = DataType_t::INT64;
    c.offsets_in_rows = true;
    Inputs const in = make_inputs(c);
    ForwardOutputs const out = make_forward_outputs(c);
    Session session(c, in, out);
    REQUIRE(session.build(each_target()).get_message() == "");
    in.q.offsets->set({2, 0, 0, 0}, 0x1p61);
    MemorySnapshot const before(out.all());
    CHECK(session.execute().get_message() ==
          "[run.r02] tensor 'offset': found a ragged offset of 'q' that holds 2305843009213693952 at batch entry 2; "
          "expected offsets that count 16 elements as one, start at 0 or later and leave room for each sequence. Try: "
          "correct the entry; nothing was written.");
    CHECK(before.change_outside({}) == "");
}

TEST_CASE("a page that is not there is named with its place, and only entries that count are looked at") {
    AttentionCase c = Fixture::make_case();
    c.paging = {.k_rows = 4, .v_rows = 2, .packed_tables = GENERATE(false, true), .wild_entries = true};
    Inputs const in = make_inputs(c);
    ForwardOutputs const out = make_forward_outputs(c);
    Session session(c, in, out);
    REQUIRE(session.build(each_target()).get_message() == "");
    auto const refusal = [&] {
        MemorySnapshot const before(out.all());
        cudnn_frontend::error_object const error = session.execute();
        CHECK(before.change_outside({}) == "");
        return error.get_message();
    };
    std::int64_t const v_pages = in.v.container->dim[0];
    in.v.table->set({0, 0, 4, 0}, static_cast<double>(v_pages));
    CHECK(refusal() == "[run.r04] tensor 'v_table': found page " + std::to_string(v_pages) +
                           " at batch entry 0, row 4; expected pages 0 to " + std::to_string(v_pages - 1) +
                           ", which 'v' has. Try: correct the entry; nothing was written.");
    in.v.table->set({0, 0, 4, 0}, -1.0);
    CHECK(contains(refusal(), "found page -1 at batch entry 0, row 4"));
    in.v.table->set({0, 0, 4, 0}, 0.0);
    in.k.table->set({1, 0, 0, 0}, 1e6);
    CHECK(contains(refusal(), "tensor 'k_table': found page 1000000 at batch entry 1, row 0"));
    in.k.table->set({1, 0, 0, 0}, 0.0);
    CHECK(session.execute().get_message() == "");
}

TEST_CASE("an offset that is negative, decreases or leaves too little room is named with its place") {
    AttentionCase c = Fixture::make_case();
    c.input_layout = Layout::Ragged;
    c.offset_type = GENERATE(DataType_t::INT32, DataType_t::INT64);
    Inputs const in = make_inputs(c);
    ForwardOutputs const out = make_forward_outputs(c);
    Session session(c, in, out);
    REQUIRE(session.build(each_target()).get_message() == "");
    auto const refusal = [&](std::int64_t entry, double offset) {
        double const right = in.q.offsets->get({entry, 0, 0, 0});
        in.q.offsets->set({entry, 0, 0, 0}, offset);
        MemorySnapshot const before(out.all());
        cudnn_frontend::error_object const error = session.execute();
        CHECK(before.change_outside({}) == "");
        CHECK(error.get_code() == error_code_t::INVALID_VALUE);
        in.q.offsets->set({entry, 0, 0, 0}, right);
        return error.get_message();
    };
    std::string const needed =
        "; expected offsets that count elements, start at 0 or later and leave room for each sequence. Try: correct "
        "the "
        "entry; nothing was written.";
    std::string const what = "[run.r02] tensor 'offset': found a ragged offset of 'q' that ";
    CHECK(refusal(0, -1) == what + "holds -1 at batch entry 0" + needed);
    CHECK(refusal(2, 80) == what + "decreases from 96 to 80 at batch entry 1" + needed);
    CHECK(refusal(1, 90) ==
          what + "leaves room for 90 elements, where the sequence spans 96 at batch entry 0" + needed);
    CHECK(session.execute().get_message() == "");
}

TEST_CASE("of inputs whose heads lie apart, offsets leave room for what a sequence spans with all heads") {
    AttentionCase c = Fixture::make_case();
    c.input_layout = Layout::RaggedSlots;
    Inputs const in = make_inputs(c);
    ForwardOutputs const out = make_forward_outputs(c);
    Session session(c, in, out);
    REQUIRE(session.build(each_target()).get_message() == "");
    CHECK(session.execute().get_message() == "");
    in.q.offsets->set({2, 0, 0, 0}, 96.0 + 64.0);  // 4 tokens of 16 elements, as if rows held both heads
    MemorySnapshot const before(out.all());
    CHECK(
        session.execute().get_message() ==
        "[run.r02] tensor 'offset': found a ragged offset of 'q' that leaves room for 64 elements, where the sequence "
        "spans 80 at batch entry 1; expected offsets that count elements, start at 0 or later and leave room for each "
        "sequence. Try: correct the entry; nothing was written.");
    CHECK(before.change_outside({}) == "");
}

TEST_CASE("a packed page table without room for the pages of a sequence is refused") {
    AttentionCase c = Fixture::make_case();
    c.paging = {.k_rows = 4, .v_rows = 4, .packed_tables = true};
    Inputs const in = make_inputs(c);
    ForwardOutputs const out = make_forward_outputs(c);
    Session session(c, in, out);
    REQUIRE(session.build(each_target()).get_message() == "");
    in.k.table->offsets->set({1, 0, 0, 0}, 2.0);
    MemorySnapshot const before(out.all());
    CHECK(session.execute().get_message() ==
          "[run.r02] tensor 'offset': found a ragged offset of 'k_table' that leaves room for 2 elements, where the "
          "sequence spans 3 at batch entry 0; expected offsets that count elements, start at 0 or later and leave room "
          "for each sequence. Try: correct the entry; nothing was written.");
    CHECK(before.change_outside({}) == "");
}

TEST_CASE("a workspace that is missing or too small is refused") {
    Fixture f(each_target());
    Graph const& graph = f.backward.graph();
    Pack const pack = f.backward.pack_by_uid();
    std::int64_t const bytes = graph.get_workspace_size();
    REQUIRE(bytes > 0);
    HostMemory const workspace(bytes);
    std::string const needed = std::to_string(bytes);
    check_refused(f, error_code_t::INVALID_VARIANT_PACK, {"[run.r09]: found a workspace", needed},
                  [&] { return graph.execute(pack, nullptr); });
    check_refused(f, error_code_t::INVALID_VARIANT_PACK, {"[run.r09]: found a workspace", needed},
                  [&] { return graph.execute(pack, nullptr, bytes); });
    check_refused(f, error_code_t::INVALID_VARIANT_PACK,
                  {"[run.r09]: found a workspace", needed, std::to_string(bytes - 1)},
                  [&] { return graph.execute(pack, workspace.data(), bytes - 1); });
    check_refused(f, error_code_t::INVALID_VARIANT_PACK, {"[run.r09]: found a workspace", needed},
                  [&] { return graph.execute(pack, workspace.data(), -1); });
    CHECK(graph.execute(pack, workspace.data(), bytes).get_message() == "");
    CHECK(workspace.guards_intact());
}

TEST_CASE("a workspace that is misaligned does no harm") {
    Fixture f(each_target());
    Graph const& graph = f.backward.graph();
    std::int64_t const bytes = graph.get_workspace_size();
    HostMemory const workspace(bytes + 1);
    auto const error = graph.execute(f.backward.pack_by_uid(), workspace.data() + 1, bytes);
    CHECK((error.is_good() || contains(error.get_message(), "align")));
    CHECK(workspace.guards_intact());
}

TEST_CASE("keys of a pack by tensor: null ones and ones that no node uses") {
    Fixture f(each_target());
    HostMemory const workspace(f.forward.graph().get_workspace_size());
    auto const complete = f.forward.pack_by_tensor();
    TensorPtr const q = f.forward.tensor_of(f.in.q);
    SECTION("null in the place of a tensor") {
        auto pack = complete;
        pack.erase(q);
        pack[nullptr] = f.in.q.data();
        check_refused(f, error_code_t::INVALID_VARIANT_PACK, {"'q'"},
                      [&] { return f.forward.graph().execute(pack, workspace.data(), workspace.size()); });
    }
    SECTION("null beside a complete pack") {
        auto pack = complete;
        pack[nullptr] = f.in.q.data();
        check_refused(f, error_code_t::INVALID_VARIANT_PACK, {"[run.r06]", "null"},
                      [&] { return f.forward.graph().execute(pack, workspace.data(), workspace.size()); });
    }
    SECTION("a tensor that no node uses, with a null pointer") {
        auto pack = complete;
        pack[f.forward.graph().tensor(cudnn_frontend::graph::Tensor_attributes())] = nullptr;
        CHECK(f.forward.graph().execute(pack, workspace.data(), workspace.size()).get_message() == "");
    }
}

TEST_CASE("an entry that the plan does not need is ignored") {
    Fixture f(each_target());
    Pack pack = f.forward.pack_by_uid();
    pack[987654] = nullptr;
    HostMemory const workspace(f.forward.graph().get_workspace_size());
    CHECK(f.forward.graph().execute(pack, workspace.data(), workspace.size()).get_message() == "");
}

namespace {

AttentionCase fp8_case() {
    AttentionCase c = Fixture::make_case();
    c.type = c.result_type = DataType_t::FP8_E4M3;
    return c;
}

// Runs forward or backward with another number as one of the factors, for each factor in turn.
void check_factors(Session const& session, Inputs const& in, std::vector<HostTensor> const& all, float number,
                   char const* text) {
    HostMemory const workspace(session.graph().get_workspace_size());
    for (HostTensor const& factor : in.factors.all()) {
        TensorPtr const tensor = session.tensor_of(factor);
        if (tensor == nullptr) continue;  // only the other direction has it
        double const old = factor.get({});
        factor.set({}, static_cast<double>(number));
        MemorySnapshot const before(all);
        error_t const error = session.graph().execute(session.pack_by_uid(), workspace.data(), workspace.size());
        CHECK(error.get_code() == error_code_t::INVALID_VARIANT_PACK);
        CHECK(error.where.rule == "run.r05");
        CHECK(error.get_message() == "[run.r05] tensor '" + tensor->get_name() + "': found the factor " + text +
                                         " for uid " + std::to_string(tensor->get_uid()) +
                                         "; expected a finite number above 0, by which 8-bit numbers can be "
                                         "multiplied. Try: pass a number such as fp8_scale() picks.");
        CHECK(before.change_outside({}) == "");
        factor.set({}, old);
    }
    CHECK(session.graph().execute(session.pack_by_uid(), workspace.data(), workspace.size()).get_message() == "");
}

}  // namespace

TEST_CASE(
    "factors of 8-bit attention that are zero, negative, infinite or NaN are refused before anything is written") {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    Target const target = each_target();
    AttentionCase c = fp8_case();
    c.factors = GENERATE(Scale::Device, Scale::ByValue);
    Inputs const in = make_inputs(c);
    ForwardOutputs const out = make_forward_outputs(c);
    BackwardInputs const more = make_backward_inputs(c, oracle::forward(to_problem(c, in, {})));
    BackwardOutputs const gradients = make_backward_outputs(c);
    Session forward(c, in, out), backward(c, in, more, gradients);
    REQUIRE(forward.build(target).get_message() == "");
    REQUIRE(backward.build(target).get_message() == "");
    std::vector<HostTensor> all;
    for (auto const& list : {in.all(), out.all(), more.all(), gradients.all()})
        all.insert(all.end(), list.begin(), list.end());
    for (auto const& [number, text] : {std::pair{0.0f, "0"},
                                       {-0.5f, "-0.5"},
                                       {kInfinity, "inf"},
                                       {std::numeric_limits<float>::quiet_NaN(), "nan"}}) {
        check_factors(forward, in, all, number, text);
        check_factors(backward, in, all, number, text);
    }
}
