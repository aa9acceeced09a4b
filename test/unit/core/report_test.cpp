#include <cudnn_frontend/report.h>

#include "support/catch.h"

#include <sstream>

using namespace cudnn_frontend;

TEST_CASE("an error streams its code and text, and compares with codes") {
    error_object const error(error_code_t::INVALID_VALUE, "too large");
    std::ostringstream stream;
    stream << error;
    CHECK(stream.str() == "INVALID_VALUE: too large");
    CHECK(error.is_bad());
    CHECK((error == error_code_t::INVALID_VALUE));
    CHECK((error != error_code_t::OK));
    CHECK(error_object().is_good());
    CHECK(static_cast<int>(error_code_t::NVRTC_COMPILATION_FAILED) == 15);
}

TEST_CASE("a report becomes one error with the first finding's code and place and the text of all") {
    Report const report({
        {error_code_t::ATTRIBUTE_NOT_SET, {"a.c01", "node", "Q"}, "nothing", "a tensor", "pass one"},
        {error_code_t::INVALID_VALUE, {"a.c02", "", "t"}, "-1", "0 or more", ""},
    });
    auto const error = report.to_error();
    CHECK(error.code == error_code_t::ATTRIBUTE_NOT_SET);
    CHECK(error.where.rule == "a.c01");
    CHECK(error.where.tensor == "Q");
    CHECK(error.err_msg ==
          "2 findings:\n"
          "[a.c01] node 'node', tensor 'Q': found nothing; expected a tensor. Try: pass one.\n"
          "[a.c02] tensor 't': found -1; expected 0 or more.");
    CHECK_FALSE(report.ok());
    CHECK(Report().ok());
    CHECK(Report().to_error().is_good());
}

TEST_CASE("a finding about several tensors names them, of many the first 16") {
    Finding finding{error_code_t::INVALID_VALUE, {"a.c01", "node", "Q"}, "-1", "0 or more", "", {"K", "V"}};
    CHECK(Report({finding}).to_text() == "[a.c01] node 'node', tensors 'Q', 'K', 'V': found -1; expected 0 or more.\n");
    finding.others.assign(17, "x");
    std::string names;
    for (int i = 0; i < 15; ++i) names += ", 'x'";
    CHECK(Report({finding}).to_text() ==
          "[a.c01] node 'node', tensors 'Q'" + names + " and 2 more: found -1; expected 0 or more.\n");
}

TEST_CASE("an error tells a hundred findings and counts the others") {
    Finding const finding{error_code_t::INVALID_VALUE, {"a.c01", "", "t"}, "-1", "0 or more", ""};
    std::string const line = "\n[a.c01] tensor 't': found -1; expected 0 or more.";
    std::string hundred;
    for (int i = 0; i < 100; ++i) hundred += line;
    CHECK(Report(std::vector<Finding>(100, finding)).to_error().err_msg == "100 findings:" + hundred);
    Report const report(std::vector<Finding>(103, finding));
    CHECK(report.to_error().err_msg == "103 findings:" + hundred + "\nand 3 more, which Graph::check() lists");
    CHECK(report.findings().size() == 103);
}
