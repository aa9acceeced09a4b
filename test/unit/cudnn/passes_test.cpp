// Each pass computes what its graph computed: the interpreter runs both, over the graphs of the sweep.
#include "cudnn/passes/passes.h"
#include "api/graph_impl.h"
#include "cpu/program.h"
#include "cudnn/planning/lowering.h"
#include "cudnn/quirks/quirk.h"
#include "expand/expand.h"
#include "reference/random_case.h"
#include "reference/session.h"

#include "support/catch.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>

using namespace cudnn_frontend;
using namespace sdpa_test;
using cudnn::LegalGraph;
using cudnn::passes::Pass;

namespace {

constexpr std::uint64_t kCases = 600;
constexpr int kRunsOfEach = 12;  // graphs of each pass that are interpreted, the first that it changes

// Devices on which every condition of a pass holds somewhere.
constexpr core::Capabilities kDevices[] = {{.cudnn_version = 91400, .sm = 90}, {.cudnn_version = 91900, .sm = 90}};

// These multiply in another order, so that fp64 rounds elsewhere.
std::set<std::string> const kReordering = {"scale before given mask", "scale drawn gradients late"};

// One direction of a case as a user's program, with its memory as it is before a run.
class Subject {
   public:
    Subject(AttentionCase const& c, bool is_backward) : in_(make_inputs(c)), out_(make_forward_outputs(c)) {
        if (is_backward) {
            AttentionCase undropped = c;  // what a generator draws is not known before a run, and does not matter
            if (c.dropout == Dropout::Probability) undropped.dropout = Dropout::None;
            more_ = make_backward_inputs(c, oracle::forward(to_problem(undropped, in_, {})));
            gradients_ = make_backward_outputs(c);
            session_ = std::make_unique<Session>(c, in_, more_, gradients_);
        } else {
            session_ = std::make_unique<Session>(c, in_, out_);
        }
        for (Session::Entry const& entry : session_->entries()) keep(*entry.memory.memory);
    }

    nodes::ValidatedGraph validated() const {
        nodes::Validation validation =
            nodes::validate(cudnn_frontend::detail::Graph_access::snapshot(session_->graph()).spec);
        REQUIRE(validation.graph);
        return std::move(*validation.graph);
    }

    // Interprets the graph, and checks that nothing is lost where two of these are compared.
    void run(ir::OpGraph const& graph) const {
        for (auto const& [memory, bytes] : before_) std::memcpy(memory->data(), bytes.data(), bytes.size());
        auto const program = cpu::Program::plan(graph, 1);
        REQUIRE(program.error().get_message() == "");
        auto const pack = session_->pack_by_uid();
        std::vector<void*> pointers;
        for (ir::Binding const& binding : graph.bindings()) pointers.push_back(pack.at(binding.uid));
        std::vector<std::byte> workspace(static_cast<std::size_t>(program.value()->workspace_size()));
        REQUIRE(program.value()->run(pointers, workspace.data()).get_message() == "");
    }

    // What the outputs hold: every element of memory that a run can write.
    std::vector<std::vector<std::byte>> bytes() const {
        std::vector<std::vector<std::byte>> all;
        for (auto const& [memory, bytes] : before_) all.emplace_back(memory->data(), memory->data() + memory->size());
        return all;
    }
    std::vector<double> numbers() const {
        std::vector<double> all;
        for (Session::Entry const& entry : session_->entries()) {
            for_each_index(entry.memory.dim, [&](Index4 const& at) { all.push_back(entry.memory.get(at)); });
        }
        return all;
    }

   private:
    void keep(HostMemory& memory) {
        for (auto const& [known, bytes] : before_) {
            if (known == &memory) return;
        }
        before_.emplace_back(&memory, std::vector<std::byte>(memory.data(), memory.data() + memory.size()));
    }

    Inputs in_;
    ForwardOutputs out_;
    BackwardInputs more_;
    BackwardOutputs gradients_;
    std::unique_ptr<Session> session_;
    std::vector<std::pair<HostMemory*, std::vector<std::byte>>> before_;
};

bool is_near(std::vector<double> const& a, std::vector<double> const& b) {
    constexpr double kOneRounding = 1.0 / 128;  // of BFLOAT16, which a last bit of fp64 can tip over
    for (std::size_t i = 0; i < a.size(); ++i) {
        bool const is_same = a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]));
        if (!is_same && !(std::abs(a[i] - b[i]) <= kOneRounding * std::abs(a[i]))) return false;
    }
    return a.size() == b.size();
}

void check_same_results(Subject const& subject, Pass const& pass, LegalGraph const& before, LegalGraph const& after) {
    subject.run(before.graph);
    auto const bytes = subject.bytes();
    auto const numbers = subject.numbers();
    subject.run(after.graph);
    CHECK((kReordering.contains(pass.name) ? is_near(numbers, subject.numbers()) : bytes == subject.bytes()));
}

// How many graphs each pass has changed.
using Changes = std::map<std::string, int>;

void try_passes(AttentionCase const& c, bool is_backward, core::Capabilities const& device, Changes& changes) {
    Subject const subject(c, is_backward);
    auto op_graph = expand::expand(subject.validated(), cudnn::expansion_for_cudnn());
    REQUIRE(op_graph.error().get_message() == "");
    LegalGraph graph{std::move(op_graph).value()};
    for (Pass const& pass : cudnn::passes::all()) {
        CAPTURE(pass.name);
        auto after = cudnn::passes::run(pass, graph, device);
        REQUIRE(after.error().get_message() == "");
        bool const has_changed = !same_work(graph.graph, after.value().graph) || graph.scratch != after.value().scratch;
        if (has_changed && ++changes[pass.name] <= kRunsOfEach) check_same_results(subject, pass, graph, after.value());
        graph = std::move(after).value();
    }
}

}  // namespace

TEST_CASE("every pass changes graphs of the sweep, and none changes what they compute") {
    Changes changes;
    for (std::uint64_t index = 0; index < kCases; ++index) {
        CAPTURE(index);
        AttentionCase c = random_case(index);
        c.explicit_uids = true;
        for (core::Capabilities const& device : kDevices) {
            try_passes(c, false, device, changes);
            if (c.has_backward()) try_passes(c, true, device, changes);
        }
    }
    for (Pass const& pass : cudnn::passes::all()) {
        CAPTURE(pass.name);
        CHECK(changes[pass.name] >= kRunsOfEach);
    }
}

TEST_CASE("passes have names of their own, and rows in the table of quirks") {
    std::set<std::string> names;
    for (Pass const& pass : cudnn::passes::all()) {
        CHECK(names.insert(pass.name).second);
        auto const row = std::ranges::find_if(
            quirks::quirks(), [&](quirks::Quirk const& quirk) { return quirk.id == std::string(pass.quirk); });
        REQUIRE(row != quirks::quirks().end());
        CHECK(row->verdict == quirks::Verdict::Rewrite);
        CHECK(row->pass == std::string(pass.name));
    }
}
