#include "json/graph_json.h"
#include "support/catch.h"

using namespace cudnn_frontend;

TEST_CASE("json: a report is a list of findings with all their members") {
    Finding first;
    first.code = error_code_t::SHAPE_DEDUCTION_FAILED;
    first.where = {"sdpa_fwd.c07", "layer \"1\"", "Q"};
    first.found = "3 heads";
    first.needed = "a multiple of 2";
    first.fix = "4 heads";
    first.others = {"K", "V"};
    Report const report({first, Finding()});
    std::string const expected = R"([
  {
    "code": "SHAPE_DEDUCTION_FAILED",
    "rule": "sdpa_fwd.c07",
    "node": "layer \"1\"",
    "tensor": "Q",
    "others": ["K", "V"],
    "found": "3 heads",
    "needed": "a multiple of 2",
    "fix": "4 heads"
  },
  {
    "code": "INVALID_VALUE",
    "rule": "",
    "node": "",
    "tensor": "",
    "others": [],
    "found": "",
    "needed": "",
    "fix": ""
  }
]
)";
    CHECK(report.to_json() == expected);
    CHECK(json::write_report(report) == expected);
    CHECK(Report().to_json() == "[]\n");
}
