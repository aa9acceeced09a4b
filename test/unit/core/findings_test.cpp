#include "core/findings.h"

#include "support/catch.h"

using namespace cudnn_frontend;

namespace {

constexpr core::Rule kTypes{"a.c01", "All tensors have one type.", error_code_t::INVALID_VALUE};

Finding wrong_type(std::string tensor, std::string found = "the type HALF") {
    return kTypes.violation("node", std::move(tensor), std::move(found), "the type FLOAT", "convert the tensor");
}

}  // namespace

TEST_CASE("tensors of one subject with the same fault become one finding, in the order of the first") {
    int const subjects[2] = {};
    core::Findings findings;
    CHECK(findings.empty());
    CHECK(findings.to_error().is_good());
    findings.add(wrong_type("K"), &subjects[0]);
    findings.add(wrong_type("Q", "the type INT8"), &subjects[0]);
    findings.add(wrong_type("V"), &subjects[0]);
    findings.add(wrong_type("V"), &subjects[0]);
    findings.add(wrong_type("K"), &subjects[1]);
    CHECK(findings.has(&subjects[0]));
    CHECK_FALSE(findings.has(&findings));
    CHECK(findings.take().size() == 3);
    auto const error = findings.to_error();
    CHECK(error.code == error_code_t::INVALID_VALUE);
    CHECK(error.where.rule == "a.c01");
    CHECK(error.where.tensor == "K");
    CHECK(error.err_msg ==
          "3 findings:\n"
          "[a.c01] node 'node', tensors 'K', 'V': found the type HALF; expected the type FLOAT. Try: convert the "
          "tensor.\n"
          "[a.c01] node 'node', tensor 'Q': found the type INT8; expected the type FLOAT. Try: convert the tensor.\n"
          "[a.c01] node 'node', tensor 'K': found the type HALF; expected the type FLOAT. Try: convert the tensor.");
}

TEST_CASE("a finding that ports share names all of them") {
    core::Findings findings;
    std::string const found = std::string(core::kPort) + " of HALF";
    for (char const* const port : {"Q", "K", "V"}) findings.add(wrong_type("shared", found), nullptr, port);
    REQUIRE(findings.take().size() == 1);
    CHECK(findings.take().front().found == "Q, K and V of HALF");
    CHECK(findings.take().front().others.empty());
}

TEST_CASE("findings stand below a heading, at a place without a rule, and without what was found") {
    core::Findings findings;
    findings.add({error_code_t::INVALID_VALUE, {"", "/nodes/0", ""}, "no text", "JSON text", ""});
    findings.add(kTypes.violation("", "", "", "one type", ""));
    CHECK(findings.to_error("the text is not a graph").err_msg ==
          "the text is not a graph\n"
          "  /nodes/0: found no text; expected JSON text.\n"
          "  [a.c01]: expected one type.");
}

TEST_CASE("a bounded collection ignores further findings, and says so") {
    core::Findings findings(2);
    for (char const* const place : {"/a", "/b", "/c"}) {
        findings.add(core::finding_at(place, error_code_t::INVALID_VALUE, "no text", "a name", "write one"));
    }
    CHECK(findings.is_full());
    CHECK(findings.to_error("the text is wrong").err_msg ==
          "the text is wrong\n"
          "  /a: found no text; expected a name. Try: write one.\n"
          "  /b: found no text; expected a name. Try: write one.\n"
          "  (there may be more)");
}

TEST_CASE("one fault without a rule is an error at its place") {
    auto const error = core::error_at("merge", error_code_t::INVALID_VARIANT_PACK, "2 pointers", "3");
    CHECK(error.code == error_code_t::INVALID_VARIANT_PACK);
    CHECK(error.err_msg == "merge: found 2 pointers; expected 3.");
    CHECK(error.where.node == "merge");
    CHECK(error.where.rule.empty());
    CHECK(core::error_at("", error_code_t::INVALID_VALUE, "2", "3", "3").err_msg == "found 2; expected 3. Try: 3.");
}

TEST_CASE("a scope reports against the rule of its row, at its function") {
    struct Scope : core::Reporter {
        int sizes;
    };
    constexpr core::RuleFor<Scope> kRows[] = {
        {"f.c01", "There are sizes.", error_code_t::INVALID_VALUE,
         [](Scope const& scope) {
             if (scope.sizes == 0) scope.report("x", "no sizes", "some", "pass them");
         }},
        {"f.c02", "There are many sizes.", error_code_t::GRAPH_NOT_SUPPORTED,
         [](Scope const& scope) {
             if (scope.sizes < 9) scope.report("", "few sizes", "many", "");
         }},
    };
    core::Findings findings;
    for (auto const& row : kRows) row.check({{row, findings, "f"}, 0});
    CHECK(findings.to_error().code == error_code_t::INVALID_VALUE);
    CHECK(findings.to_error().err_msg ==
          "2 findings:\n"
          "[f.c01] node 'f', tensor 'x': found no sizes; expected some. Try: pass them.\n"
          "[f.c02] node 'f': found few sizes; expected many.");
}
