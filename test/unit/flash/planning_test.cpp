// Real cuDNN plans classes of calls for a GPU, without one.
#include "flash/runs/runs.h"
#include "gpu_call.h"
#include "lowering/has_cudnn.h"
#include "support/catch.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>

using namespace flash_test;
namespace flash = sdpa_graph::flash;
using cudnn_frontend::Target;
using enum flash::Argument;

namespace {

struct Sizes {
    bool is_packed = false;
    std::int64_t batches = 2, queries = 256, keys = 256, heads = 4, key_heads = 2, width = 64, page_rows = 0;
    bool has_used_keys = false;
};

using Change = std::function<void(flash::Call&)>;

// A call of such sizes; nothing reads the memory.
class Sized_call {
   public:
    Sized_call(Sizes const& n, bool is_backward, Change const& change)
        : made_(is_backward, n.is_packed, place_), n_(n), is_backward_(is_backward) {
        for (auto const argument : {Q, Out, DOut, DQ}) set(argument, rows(n.queries, n.heads));
        for (auto const argument : {K, V, DK, DV}) set(argument, n.page_rows > 0 ? pages() : rows(n.keys, n.key_heads));
        if (n.is_packed) {
            set(CuSeqlensQ, view(DataType_t::INT32, {n.batches + 1}));
            set(CuSeqlensK, view(DataType_t::INT32, {n.batches + 1}));
            made_.call.max_seqlen_q = n.queries;
            made_.call.max_seqlen_k = n.keys;
        }
        if (n.has_used_keys) set(SequsedK, view(DataType_t::INT32, {n.batches}));
        if (n.page_rows > 0) set(BlockTable, view(DataType_t::INT32, {n.batches, n.keys / n.page_rows}));
        change(made_.call);
        if (made_.call.has_dropout()) set(Seed, view(DataType_t::INT64, {2}));
        if (made_.call.has(AlibiSlopes)) set(AlibiSlopes, view(DataType_t::FLOAT, {n.heads}));
    }

    flash::Call const& call() const { return made_.call; }
    void set_deterministic_place(bool is_deterministic) { place_.is_deterministic = is_deterministic; }
    // The plan that the call gets with this policy, of which a CUDA graph records the launch or not.
    flash::Chosen choose(sdpa_graph::Shape_policy policy, bool is_recorded = false) {
        place_.shape_policy = policy;
        sdpa_graph::calls::Lease lease{Target::offline("h200"), {}, is_recorded};
        auto chosen = flash::choose_plan(call(), flash::sizes_of(call()), lease);
        REQUIRE(chosen.error().get_message() == "");
        return std::move(chosen).value();
    }

   private:
    static Tensor_view view(DataType_t type, Dims const& dim) {
        return {reinterpret_cast<void*>(4096), dim, sdpa_graph::row_major(dim), type};
    }
    Tensor_view rows(std::int64_t count, std::int64_t heads) const {
        if (n_.is_packed) return view(DataType_t::BFLOAT16, {n_.batches * count, heads, n_.width});
        return view(DataType_t::BFLOAT16, {n_.batches, count, heads, n_.width});
    }
    Tensor_view pages() const {
        return view(DataType_t::BFLOAT16, {n_.batches * n_.keys / n_.page_rows, n_.page_rows, n_.key_heads, n_.width});
    }
    void set(flash::Argument argument, Tensor_view const& tensor) {
        bool const is_of_backward = argument == DOut || argument == DQ || argument == DK || argument == DV;
        if (is_backward_ || !is_of_backward) made_.set(argument, tensor);
    }

    flash::Place place_;
    Gpu_call made_;
    Sizes n_;
    bool is_backward_;
};

struct Option {
    char const* name;
    Change change;
    bool is_for_training = false;
};

Tensor_view const& some_slopes() {
    static Tensor_view const view;
    return view;
}

std::vector<Option> options() {
    return {
        {"plain", [](flash::Call&) {}},
        {"causal", [](flash::Call& c) { c.is_causal = true; }},
        {"window", [](flash::Call& c) { c.window_left = 17, c.window_right = 5; }},
        {"causal window", [](flash::Call& c) { c.is_causal = true, c.window_left = 17; }},
        {"left window", [](flash::Call& c) { c.window_left = 17; }},
        {"soft cap", [](flash::Call& c) { c.softcap = 20.0f; }},
        {"soft cap, causal", [](flash::Call& c) { c.softcap = 20.0f, c.is_causal = true; }},
        {"slopes", [](flash::Call& c) { c.set(AlibiSlopes, some_slopes()); }},
        {"slopes, causal", [](flash::Call& c) { c.set(AlibiSlopes, some_slopes()), c.is_causal = true; }},
        {"slopes, soft cap", [](flash::Call& c) { c.set(AlibiSlopes, some_slopes()), c.softcap = 20.0f; }},
        {"dropout", [](flash::Call& c) { c.p_dropout = 0.1f; }, true},
        {"dropout, causal", [](flash::Call& c) { c.p_dropout = 0.1f, c.is_causal = true; }, true},
        {"dropout, slopes", [](flash::Call& c) { c.p_dropout = 0.1f, c.set(AlibiSlopes, some_slopes()); }, true},
        {"deterministic", [](flash::Call& c) { c.is_deterministic = true; }, true},
    };
}

flash::Shapes shapes_of(flash::Call const& call) {
    return flash::shapes_of(call, flash::sizes_of(call), rounding_of(call), Target::offline("h200"));
}

// Why there is no engine; empty where there is one.
std::string fault_of(Sizes const& sizes, bool is_backward, Change const& change) {
    cudnn_frontend::graph::Graph graph;
    flash::describe(shapes_of(Sized_call(sizes, is_backward, change).call()), graph);
    cudnn_frontend::error_object error = graph.build_operation_graph(Target::offline("h200"));
    if (error.is_good()) error = graph.create_execution_plans({cudnn_frontend::HeurMode_t::A});
    if (error.is_good()) error = graph.check_support();
    return error.is_good() ? "" : error.get_message();
}

// Makes the plan of the class, too.
std::string plan_fault_of(Sizes const& sizes, bool is_backward) {
    Sized_call const made(sizes, is_backward, [](flash::Call&) {});
    return sdpa_graph::calls::ClassPlan<flash::Shapes>::find(shapes_of(made.call()), Target::offline("h200"))
        .error()
        .get_message();
}

void check(Sizes const& sizes, bool has_backward = true) {
    if (!sdpa_test::has_cudnn()) return;
    for (Option const& option : options()) {
        if (option.is_for_training && !has_backward) continue;
        CAPTURE(option.name);
        CHECK(fault_of(sizes, false, option.change) == "");
        if (has_backward) CHECK(fault_of(sizes, true, option.change) == "");
    }
}

}  // namespace

TEST_CASE("flash planning: padded tensors") {
    check({});
    check({.queries = 320});
}

TEST_CASE("flash planning: returned softmax") {
    Change const returned = [](flash::Call& c) { c.p_dropout = 0.1f, c.return_softmax = true; };
    if (!sdpa_test::has_cudnn()) return;
    CHECK(fault_of({}, false, returned) == "");
    CHECK(fault_of({.is_packed = true}, false, returned) == "");
}

TEST_CASE("flash planning: packed tensors") {
    check({.is_packed = true});
    check({.is_packed = true, .queries = 1});
    check({.is_packed = true, .has_used_keys = true}, false);
}

TEST_CASE("flash planning: causal sequences with as many queries as keys have a plan of their own in backward") {
    static Tensor_view const totals = {reinterpret_cast<void*>(8192), {3}, {1}, DataType_t::INT32};
    Change const causal = [](flash::Call& c) { c.is_causal = true, c.set(CuSeqlensK, totals); };
    auto const has_own = [](Sizes const& sizes, bool is_backward, Change const& change) {
        return shapes_of(Sized_call(sizes, is_backward, change).call()).has_squares_apart;
    };
    Sizes const long_ones{.is_packed = true, .queries = 512, .keys = 512};
    CHECK(has_own(long_ones, true, causal));
    CHECK_FALSE(has_own(long_ones, false, causal));
    CHECK_FALSE(has_own(long_ones, true, [](flash::Call& c) { c.is_causal = true; }));  // one tensor of totals
    CHECK_FALSE(has_own(long_ones, true, [](flash::Call& c) { c.set(CuSeqlensK, totals); }));
    CHECK_FALSE(has_own({.is_packed = true, .queries = 511, .keys = 511}, true, causal));
    CHECK_FALSE(has_own({.is_packed = true, .queries = 512, .keys = 600}, true, causal));
}

// Other engines compute what a causal mask hides of sequences that have fewer queries than keys.
TEST_CASE("flash planning: backward of causal packed sequences is the library's own engine's") {
    if (!sdpa_test::has_cudnn()) return;
    static Tensor_view const totals = {reinterpret_cast<void*>(8192), {3}, {1}, DataType_t::INT32};
    auto const engine_of = [](bool is_causal, bool are_square, bool is_backward, std::int64_t longest) {
        Sizes const sizes{.is_packed = true, .queries = longest, .keys = longest, .heads = 16, .key_heads = 4};
        Sized_call call(sizes, is_backward, [&](flash::Call& c) {
            c.is_causal = is_causal;
            if (!are_square) c.set(CuSeqlensK, totals);
        });
        std::string name;
        REQUIRE(call.choose(sdpa_graph::Shape_policy::CLASSES).plan->graph().get_plan_name(name).is_good());
        return name.substr(0, name.find('_'));
    };
    CHECK(engine_of(true, false, true, 2048) == "attention");
    CHECK(engine_of(true, false, false, 2048) == "eng2");
    CHECK(engine_of(true, true, true, 2048) == "eng6");
    CHECK(engine_of(false, false, true, 2048) == "eng6");
    CHECK(engine_of(true, false, true, 500) == "eng6");
    CHECK(engine_of(true, false, true, 1024) == "eng6");  // too few tiles
}

TEST_CASE("flash planning: keys in pages") {
    for (std::int64_t const queries : {1, 4, 200}) {
        CAPTURE(queries);
        check({.is_packed = true, .queries = queries, .keys = 1024, .page_rows = 256}, false);
        check({.is_packed = true, .queries = queries, .keys = 1536, .page_rows = 768, .has_used_keys = true}, false);
    }
}

TEST_CASE("flash planning: plans compile") {
    if (!sdpa_test::has_cudnn()) return;
    CHECK(plan_fault_of({.is_packed = true}, false) == "");
    CHECK(plan_fault_of({.is_packed = true}, true) == "");
    CHECK(plan_fault_of({.is_packed = true, .queries = 1, .keys = 1024, .page_rows = 256}, false) == "");
}

TEST_CASE("flash planning: one plan for all shapes serves the padded calls of a kind") {
    if (!sdpa_test::has_cudnn()) return;
    using enum sdpa_graph::Shape_policy;
    for (char const* name : {"plain", "causal", "causal window", "soft cap, causal"}) {
        auto const all = options();
        Change const change = std::ranges::find(all, std::string(name), &Option::name)->change;
        for (bool const is_backward : {false, true}) {
            CAPTURE(name, is_backward);
            std::set<void const*> plans;
            for (std::int64_t tokens = 300; tokens <= 700; tokens += 133) {
                Sizes const sizes{.batches = 1 + tokens % 5, .queries = tokens, .keys = tokens, .heads = 16};
                flash::Chosen const chosen = Sized_call(sizes, is_backward, change).choose(ALL_SHAPES);
                CHECK(chosen.resized.is_made());
                plans.insert(chosen.plan.get());
            }
            CHECK(plans.size() == 1);
        }
    }
}

TEST_CASE("flash planning: AUTO resizes the plan of a padded call's kind where there is one") {
    if (!sdpa_test::has_cudnn()) return;
    using enum sdpa_graph::Shape_policy;
    Sizes const sizes{.batches = 2, .queries = 300, .keys = 300, .heads = 12, .key_heads = 12};
    Change const same = [](flash::Call&) {};
    CHECK(Sized_call(sizes, false, same).choose(AUTO).shapes.is_packed);
    CHECK(Sized_call(sizes, false, same).choose(ALL_SHAPES).resized.is_made());  // makes the kind's plan

    Sizes longer = sizes;
    longer.queries = longer.keys = 333;
    flash::Chosen const resized = Sized_call(longer, false, same).choose(AUTO);
    CHECK(resized.resized.is_made());
    CHECK(!resized.shapes.is_packed);
    // It has not run, so that it may have kernels to load.
    CHECK(!Sized_call(longer, false, same).choose(AUTO, true).resized.is_made());

    Sizes const few{.batches = 64, .queries = 16, .keys = 333, .heads = 12, .key_heads = 12};
    CHECK(Sized_call(few, false, same).choose(ALL_SHAPES).resized.is_made());
    CHECK(Sized_call(few, false, same).choose(AUTO).shapes.is_packed);
    CHECK(Sized_call(longer, false, same).choose(CLASSES).shapes.is_packed);
    CHECK(!Sized_call(longer, false, same).choose(EXACT).resized.is_made());
}

TEST_CASE("flash planning: AUTO does not resize plans of deterministic calls and of those with slopes") {
    if (!sdpa_test::has_cudnn()) return;
    using enum sdpa_graph::Shape_policy;
    Sizes const sizes{.batches = 2, .queries = 300, .keys = 300, .heads = 8, .key_heads = 8};
    Sized_call deterministic(sizes, true, [](flash::Call& c) { c.is_deterministic = true; });
    CHECK(deterministic.choose(ALL_SHAPES).resized.is_made());
    CHECK(deterministic.choose(AUTO).shapes.is_packed);
    Sized_call with_slopes(sizes, true, [](flash::Call& c) { c.set(AlibiSlopes, some_slopes()); });
    CHECK(with_slopes.choose(AUTO).shapes.is_packed);
}

TEST_CASE("flash planning: AUTO runs a shape that comes back often by its exact plan, unless bits would change") {
    if (!sdpa_test::has_cudnn()) return;
    using enum sdpa_graph::Shape_policy;
    Sizes const sizes{.batches = 2, .queries = 310, .keys = 310, .heads = 6, .key_heads = 6};
    auto const comes_to_exact_plan = [&](bool is_backward, Change const& change, bool is_deterministic_place = false) {
        Sized_call call(sizes, is_backward, change);
        call.set_deterministic_place(is_deterministic_place);
        CHECK(!call.choose(EXACT).shapes.is_packed);
        bool is_exact = false;
        for (int i = 0; i < 20 && !is_exact; ++i) is_exact = !call.choose(AUTO).shapes.is_packed;
        return is_exact;
    };
    Change const same = [](flash::Call&) {};
    CHECK(comes_to_exact_plan(false, same));
    CHECK(comes_to_exact_plan(true, same));
    // The plan is there, but has not run.
    CHECK(Sized_call(sizes, false, same).choose(AUTO, true).shapes.is_packed);
    CHECK(!comes_to_exact_plan(false, same, true));
    CHECK(!comes_to_exact_plan(true, [](flash::Call& c) { c.is_deterministic = true; }));
    for (bool const is_backward : {false, true})
        CHECK(!comes_to_exact_plan(is_backward, [](flash::Call& c) { c.p_dropout = 0.1f; }));
}
