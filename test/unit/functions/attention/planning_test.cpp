// Real cuDNN plans classes of calls for a GPU, without one.
#include "calls/class_plan.h"
#include "functions/attention/runs.h"
#include "lowering/has_cudnn.h"
#include "support/catch.h"

#include <cudnn_frontend/process.h>

#include <functional>
#include <list>
#include <set>

using namespace sdpa_graph::attention;
using cudnn_frontend::Target;
using sdpa_graph::Device_kind;
using sdpa_graph::Place;
using sdpa_graph::Tensor_view;
using enum Argument;

namespace {

using Dims = std::vector<std::int64_t>;

enum class Layout_of_call { Bshd, Bhsd, Packed };

struct Sized {
    Layout_of_call layout = Layout_of_call::Bshd;
    std::int64_t batches = 3, queries = 200, keys = 200, heads = 4, key_heads = 4, width = 64;
    DataType_t type = DataType_t::BFLOAT16;
};

// A call of such sizes on a GPU; nothing reads the memory.
class Sized_call {
   public:
    Sized_call(Sized const& n, bool is_backward, Options const& options)
        : n_(n),
          options_(options),
          call_{.function = "attention",
                .is_backward = is_backward,
                .wants_stats = true,
                .options = options_,
                .place = place_} {
        if (n.layout == Layout_of_call::Packed) {
            options_.longest_q = n.queries;
            options_.longest_kv = n.keys;
            set(CuSeqlensQ, {n.batches + 1}, DataType_t::INT32);
            set(CuSeqlensKv, {n.batches + 1}, DataType_t::INT32);
        }
        for (Argument const argument : {Q, O}) set_rows(argument, n.queries, n.heads, n.width, n.type);
        for (Argument const argument : {K, V}) set_rows(argument, n.keys, n.key_heads, n.width, n.type);
        set_rows(Stats, n.queries, n.heads, 1, DataType_t::FLOAT);
        if (is_backward) {
            for (Argument const argument : {GradO, DQ}) set_rows(argument, n.queries, n.heads, n.width, n.type);
            for (Argument const argument : {DK, DV}) set_rows(argument, n.keys, n.key_heads, n.width, n.type);
        }
        if (options.dropout_p > 0) set(Seed, {2}, DataType_t::INT64);
    }
    Sized_call(Sized_call const&) = delete;
    Sized_call& operator=(Sized_call const&) = delete;

    void add_sink() {
        set(Sink, {1, n_.heads, 1, 1}, DataType_t::FLOAT);
        if (call_.is_backward) set(DSink, {1, n_.heads, 1, 1}, DataType_t::FLOAT);
    }
    Form form() const { return class_form(call_, sizes_of(call_)); }
    // The plan that a call with this policy gets, of which a CUDA graph records the launch or not.
    Chosen choose(sdpa_graph::Shape_policy policy, bool is_recorded = false) {
        place_.shape_policy = policy;
        sdpa_graph::calls::Lease lease{Target::offline("h100"), {}, is_recorded};
        auto chosen = choose_plan(call_, sizes_of(call_), lease);
        REQUIRE(chosen.error().get_message() == "");
        return std::move(chosen).value();
    }
    Shapes shapes(Form const& form) const { return shapes_of(call_, sizes_of(call_), form, Target::offline("h100")); }

   private:
    Tensor_view& set(Argument argument, Dims const& dim, DataType_t type) {
        Tensor_view view{reinterpret_cast<void*>(4096), dim, sdpa_graph::row_major(dim), type, Device_kind::CUDA};
        call_.set(argument, views_.emplace_back(view));
        return views_.back();
    }
    void set_rows(Argument argument, std::int64_t rows, std::int64_t heads, std::int64_t width, DataType_t type) {
        if (n_.layout == Layout_of_call::Packed) {
            set(argument, {n_.batches * rows, heads, width}, type);
            return;
        }
        Tensor_view& view = set(argument, {n_.batches, heads, rows, width}, type);
        if (n_.layout == Layout_of_call::Bshd) view.stride = {rows * heads * width, width, heads * width, 1};
    }

    Sized n_;
    Options options_;
    Place place_;
    std::list<Tensor_view> views_;  // the call points to them
    Call call_;
};

struct Option {
    char const* name;
    std::function<void(Options&)> change;
    bool has_sink = false, is_of_backward = false;
};

std::vector<Option> options() {
    return {
        {"plain", [](Options&) {}},
        {"causal", [](Options& o) { o.right_bound = 0; }},
        {"causal, bottom right", [](Options& o) { o.right_bound = 0, o.is_bottom_right = true; }},
        {"window", [](Options& o) { o.left_bound = 17, o.right_bound = 5; }},
        {"causal window", [](Options& o) { o.left_bound = 17, o.right_bound = 0; }},
        {"causal window, bottom right",
         [](Options& o) { o.left_bound = 17, o.right_bound = 0, o.is_bottom_right = true; }},
        {"soft cap", [](Options& o) { o.softcap = 20.0f; }},
        {"soft cap, causal", [](Options& o) { o.softcap = 20.0f, o.right_bound = 0; }},
        {"dropout", [](Options& o) { o.dropout_p = 0.1f; }},
        {"dropout, causal", [](Options& o) { o.dropout_p = 0.1f, o.right_bound = 0; }},
        {"sink", [](Options&) {}, true},
        {"sink, causal", [](Options& o) { o.right_bound = 0; }, true},
        {"alibi, causal", [](Options& o) { o.has_alibi = true, o.right_bound = 0; }},
        {"deterministic", [](Options& o) { o.is_deterministic = true; }, false, true},
        {"deterministic, causal", [](Options& o) { o.is_deterministic = true, o.right_bound = 0; }, false, true},
    };
}

Options changed(Option const& option) {
    Options options;
    option.change(options);
    return options;
}

// Why there is no engine; empty where there is one.
std::string fault_of(Shapes const& shapes) {
    cudnn_frontend::graph::Graph graph;
    describe(shapes, graph);
    cudnn_frontend::error_object error = graph.build_operation_graph(Target::offline("h100"));
    if (error.is_good()) error = graph.create_execution_plans({cudnn_frontend::HeurMode_t::A});
    if (error.is_good()) error = graph.check_support();
    return error.is_good() ? "" : error.get_message();
}

std::string fault_of(Sized const& sized, bool is_backward, Option const& option, Form const& wanted) {
    Sized_call call(sized, is_backward, changed(option));
    if (option.has_sink) call.add_sink();
    Form const form = call.form();
    if (form != wanted) return "another form";
    return fault_of(call.shapes(form));
}

constexpr Form kBySequence{.has_slots = true, .is_class = true};
constexpr Form kByHead{.has_slots = true, .is_class = true, .has_slots_of_heads = true};
constexpr Form kExact{};

void check(Sized const& sized, Form const& form, std::function<Form(Option const&)> const& form_of = {}) {
    if (!sdpa_test::has_cudnn()) return;
    for (Option const& option : options())
        for (bool const is_backward : {false, true}) {
            if (option.is_of_backward && !is_backward) continue;
            CAPTURE(option.name, is_backward);
            CHECK(fault_of(sized, is_backward, option, form_of ? form_of(option) : form) == "");
        }
}

// Dropout has slots of heads in both passes; slots of heads know nothing of slopes and sinks.
Form form_by_head(Option const& option) {
    Options const changed_options = changed(option);
    return option.has_sink || changed_options.has_alibi ? kExact : kByHead;
}
Form form_by_sequence(Option const& option) { return changed(option).dropout_p > 0 ? kByHead : kBySequence; }

std::string plan_fault_of(Sized const& sized, bool is_backward) {
    Sized_call const call(sized, is_backward, {});
    return sdpa_graph::calls::ClassPlan<Shapes>::find(call.shapes(call.form()), Target::offline("h100"))
        .error()
        .get_message();
}

}  // namespace

TEST_CASE("attention planning: classes by sequence") { check({}, kBySequence, form_by_sequence); }

TEST_CASE("attention planning: classes by sequence of packed tensors, with shared heads") {
    check({.layout = Layout_of_call::Packed, .key_heads = 2}, kBySequence);
}

TEST_CASE("attention planning: classes of wide and narrow heads") {
    for (std::int64_t const width : {16, 128, 256})
        for (std::int64_t const queries : {7, 600})
            check({.layout = Layout_of_call::Packed, .queries = queries, .key_heads = 1, .width = width}, kBySequence);
}

TEST_CASE("attention planning: classes by head") {
    check({.layout = Layout_of_call::Bhsd}, kByHead, form_by_head);
    check({.layout = Layout_of_call::Bhsd, .queries = 100, .keys = 300, .type = DataType_t::HALF}, kByHead,
          form_by_head);
}

TEST_CASE("attention planning: one query") {
    if (!sdpa_test::has_cudnn()) return;
    Option const plain{"plain", [](Options&) {}};
    for (Layout_of_call const layout : {Layout_of_call::Bshd, Layout_of_call::Bhsd, Layout_of_call::Packed})
        for (std::int64_t const key_heads : {4, 2}) {
            Form const form = layout == Layout_of_call::Bhsd ? kByHead : kBySequence;
            Sized const sized{.layout = layout, .queries = 1, .keys = 500, .key_heads = key_heads};
            CAPTURE(key_heads, static_cast<int>(layout));
            CHECK(fault_of(sized, false, plain, form) == "");
            bool const is_class = !(form == kByHead && key_heads == 2);
            CHECK(fault_of(sized, true, plain, is_class ? form : kExact) == "");
        }
}

TEST_CASE("attention planning: plans of classes compile") {
    if (!sdpa_test::has_cudnn()) return;
    for (Layout_of_call const layout : {Layout_of_call::Bshd, Layout_of_call::Bhsd})
        for (bool const is_backward : {false, true}) CHECK(plan_fault_of({.layout = layout}, is_backward) == "");
}

TEST_CASE("attention planning: what depends on lengths or heads has exact shapes") {
    Sized const bhsd{.layout = Layout_of_call::Bhsd, .key_heads = 2};
    CHECK(Sized_call(bhsd, false, {}).form() == kByHead);
    CHECK(Sized_call(bhsd, true, {}).form() == kExact);
    Options dropping;
    dropping.dropout_p = 0.1f;
    CHECK(Sized_call(bhsd, false, dropping).form() == kExact);
    CHECK(Sized_call({.key_heads = 2}, false, dropping).form() == kExact);
    CHECK(Sized_call({.type = DataType_t::FLOAT}, false, {}).form() == kExact);
}

TEST_CASE("attention planning: one plan for all shapes serves the calls of a kind") {
    if (!sdpa_test::has_cudnn()) return;
    using Plan = sdpa_graph::calls::ClassPlan<Shapes>;
    Target const target = Target::offline("h100");
    Options causal;
    causal.right_bound = 0;
    for (bool const is_backward : {false, true}) {
        std::set<Plan const*> plans;
        for (std::int64_t tokens = 100; tokens <= 500; tokens += 57) {
            Sized const sized{.batches = 1 + tokens % 5, .queries = tokens, .keys = tokens, .heads = 8, .key_heads = 8};
            Sized_call const call(sized, is_backward, causal);
            Shapes const shapes = call.shapes({.policy = cudnn_frontend::ShapePolicy_t::ALL_SHAPES});
            auto const plan = Plan::find(kind_of(shapes), shapes, target);
            REQUIRE(plan.error().get_message() == "");
            auto const resized_plan = resized(plan.value()->graph(), shapes);
            CHECK(resized_plan.error().get_message() == "");
            plans.insert(plan.value().get());
        }
        CHECK(plans.size() == 1);
    }
}

TEST_CASE("attention planning: calls of different kinds have plans of their own") {
    Form const form{.policy = cudnn_frontend::ShapePolicy_t::ALL_SHAPES};
    auto const kind = [&](Sized const& sized, Options const& options = {}, bool is_backward = false) {
        return kind_of(Sized_call(sized, is_backward, options).shapes(form));
    };
    Options causal;
    causal.right_bound = 0;
    CHECK(kind({.batches = 1, .queries = 17, .keys = 900}) == kind({}));
    for (Shapes const& other :
         {kind({.heads = 8}), kind({.width = 72}), kind({.type = DataType_t::HALF}), kind({}, causal),
          kind({}, {}, true), kind({.layout = Layout_of_call::Bshd, .width = 68})}) {
        CHECK(!(other == kind({})));
    }
}

TEST_CASE("attention planning: AUTO resizes the plan of a call's kind where there is one") {
    if (!sdpa_test::has_cudnn()) return;
    using enum sdpa_graph::Shape_policy;
    Sized const sized{.batches = 2, .queries = 300, .keys = 300, .heads = 12, .key_heads = 12};
    CHECK(Sized_call(sized, false, {}).choose(AUTO).form.is_class);
    CHECK(Sized_call(sized, false, {}).choose(ALL_SHAPES).resized.is_made());  // makes the kind's plan

    Sized longer = sized;
    longer.queries = longer.keys = 333;
    Chosen const resized_plan = Sized_call(longer, false, {}).choose(AUTO);
    CHECK(resized_plan.resized.is_made());
    CHECK(!resized_plan.form.has_slots);
    // It has not run, so that it may have kernels to load.
    CHECK(!Sized_call(longer, false, {}).choose(AUTO, true).resized.is_made());

    Sized few = longer;
    few.queries = 16;
    CHECK(Sized_call(few, false, {}).choose(AUTO).form.is_class);
    Sized packed = longer;
    packed.layout = Layout_of_call::Packed;
    CHECK(Sized_call(packed, false, {}).choose(AUTO).form.is_class);
    CHECK(Sized_call(longer, false, {}).choose(CLASSES).form.is_class);
    CHECK(!Sized_call(longer, false, {}).choose(EXACT).resized.is_made());
}

TEST_CASE("attention planning: AUTO does not resize plans of dropout or deterministic calls") {
    if (!sdpa_test::has_cudnn()) return;
    using enum sdpa_graph::Shape_policy;
    Options dropping, deterministic;
    dropping.dropout_p = 0.1f;
    deterministic.is_deterministic = true;
    Sized const sized{.batches = 2, .queries = 300, .keys = 300, .heads = 6, .key_heads = 6};
    for (Options const& options : {dropping, deterministic}) {
        Sized_call call(sized, true, options);
        if (options.is_deterministic) CHECK(call.choose(ALL_SHAPES).resized.is_made());
        CHECK(!call.choose(AUTO).resized.is_made());
    }
}

TEST_CASE("attention planning: plans that are resized for shapes which come back are kept") {
    if (!sdpa_test::has_cudnn()) return;
    auto const kept = [] {
        for (auto const& kind : cudnn_frontend::runtime::kept_statistics())
            if (kind.kind == std::string("resized plans")) return std::pair(kind.objects, kind.builds);
        return std::pair(std::int64_t{0}, std::int64_t{0});
    };
    auto const [objects, builds] = kept();
    Sized sized{.batches = 2, .heads = 10, .key_heads = 10};
    for (std::int64_t const tokens : {401, 402, 403, 404, 403, 404, 403, 404}) {
        sized.queries = sized.keys = tokens;
        CHECK(Sized_call(sized, false, {}).choose(sdpa_graph::Shape_policy::ALL_SHAPES).resized.is_made());
    }
    CHECK(kept() == std::pair(objects + 2, builds + 2));
}
