// Compiled three times: once for each version with a name for its function, and once as the program that calls both.
#include <string>
#include <utility>

using Answers = std::pair<std::string, std::string>;  // a type's name, and the library's answer

#if defined(SDPA_TEST_VERSION)

namespace cudnn_frontend {
struct error_object;
class Report;
}  // namespace cudnn_frontend

static std::string text_of(cudnn_frontend::Report const& report);

#include <cudnn_frontend/fp8.h>
#include <cudnn_frontend/report.h>

#include <typeinfo>

static std::string text_of(cudnn_frontend::Report const& report) { return report.to_error().get_message(); }

Answers SDPA_TEST_VERSION() {
    cudnn_frontend::Report const report(
        {{cudnn_frontend::error_code_t::INVALID_VALUE, {"rule", "node", "tensor"}, "found", "needed", "fix"}});
    float const scale = cudnn_frontend::fp8_scale(cudnn_frontend::DataType_t::FP8_E4M3, 100.0f).scale;
    return {typeid(cudnn_frontend::error_object).name(), text_of(report) + " " + std::to_string(scale)};
}

#else

#include <cstdio>

Answers first_version();
Answers second_version();

int main() {
    Answers const first = first_version(), second = second_version();
    std::printf("%s: %s\n%s: %s\n", first.first.c_str(), first.second.c_str(), second.first.c_str(),
                second.second.c_str());
    bool const is_same_type = first.first == second.first;
    return first.second == second.second && !first.second.empty() && !is_same_type ? 0 : 1;
}

#endif
