// Idioms of programs for the existing frontend around the API: their own text functions next to the library's, checks
// by macros, the log, strides by order.
#include <cudnn_frontend.h>

#include "expect.h"

namespace fe = cudnn_frontend;

namespace {

// A program's own functions win where the library has some of the same name.
std::string to_string(fe::DataType_t type) { return type == fe::DataType_t::HALF ? "my half" : "another"; }
std::ostream& operator<<(std::ostream& stream, fe::HeurMode_t) { return stream << "my mode"; }
std::ostream& operator<<(std::ostream& stream, fe::error_t const& error) {
    return stream << (error.is_good() ? "my good" : "my bad");
}

void check_texts() {
    EXPECT(to_string(fe::DataType_t::HALF) == "my half");
    std::ostringstream stream;
    fe::error_t const good;
    stream << fe::HeurMode_t::B << ", " << good << ", " << fe::PointwiseMode_t::RELU_FWD << ", "
           << fe::DataType_t::BFLOAT16 << ", " << fe::error_code_t::HANDLE_ERROR;
    EXPECT(stream.str() == "my mode, my good, RELU_FWD, BFLOAT16, HANDLE_ERROR");
}

void check_bindings() {
    fe::graph::Graph graph;
    auto [code, message] = graph.create_execution_plans({fe::HeurMode_t::A});
    EXPECT(code == fe::error_code_t::HEURISTIC_QUERY_FAILED && !message.empty());
    fe::error_t error(fe::error_code_t::INVALID_VALUE, "first");
    auto& [held_code, held_message] = error;
    held_code = fe::error_code_t::OK, held_message = "second";
    EXPECT(error.is_good() && error.get_message() == "second");
    fe::error_t const fixed(fe::error_code_t::INVALID_VALUE, "third");
    auto const& [fixed_code, fixed_message] = fixed;
    EXPECT(fixed_code == fe::error_code_t::INVALID_VALUE && fixed_message == "third");
}

fe::error_t checked(fe::error_t const& given, bool is_bad, int unused) {
    CUDNN_FRONTEND_UNUSED(unused);
    CHECK_CUDNN_FRONTEND_ERROR(given);
    RETURN_CUDNN_FRONTEND_ERROR_IF(is_bad, fe::error_code_t::INVALID_VALUE, "the second check");
    return {};
}

void check_macros() {
    EXPECT(checked({}, false, 0).is_good());
    EXPECT(checked({fe::error_code_t::HANDLE_ERROR, "the first check"}, true, 0).get_message() == "the first check");
    EXPECT(checked({}, true, 0).get_message() == "the second check");
}

void check_log() {
    std::ostringstream text;
    auto* const before = fe::getStream().rdbuf(text.rdbuf());
    EXPECT(!fe::isLoggingEnabled() && fe::getLogLevel() == 0);
    CUDNN_FE_LOG_LABEL_ENDL("off " << 1);
    fe::isLoggingEnabled() = true;
    CUDNN_FE_LOG_LABEL_ENDL("on " << 2);
    fe::getLogger() << "three" << std::endl;
    fe::graph::Graph graph;
    EXPECT(graph.set_name("empty").validate().is_good());
    fe::isLoggingEnabled() = false;
    fe::getStream().rdbuf(before);
    EXPECT(text.str().find("[cudnn_frontend] on 2\nthree\n[cudnn_frontend] validate of graph 'empty', ") == 0);
}

void check_strides() {
    std::vector<std::int64_t> const dim{2, 3, 4, 5};
    EXPECT(fe::detail::generate_row_major_stride_order(4) == std::vector<std::int64_t>{3, 2, 1, 0});
    EXPECT(fe::detail::generate_NHWC_stride_order(4) == std::vector<std::int64_t>{3, 0, 2, 1});
    EXPECT(fe::detail::generate_stride(dim, {3, 2, 1, 0}) == std::vector<std::int64_t>{60, 20, 5, 1});
    EXPECT(fe::detail::generate_stride(dim, {3, 0, 2, 1}) == std::vector<std::int64_t>{60, 1, 15, 3});
}

}  // namespace

int main() {
    check_texts();
    check_bindings();
    check_macros();
    check_log();
    check_strides();
    return failures == 0 ? 0 : 1;
}
