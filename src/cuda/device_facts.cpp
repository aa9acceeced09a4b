#include "cuda/device_facts.h"

#include "cuda/driver.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>

namespace cudnn_frontend::cuda {
namespace {

error_t get(int& value, CUdevice_attribute attribute, int ordinal) {
    return ask("asking for facts of the GPU",
               [&](Driver const& cuda) { return cuda.device_attribute(&value, attribute, ordinal); });
}

}  // namespace

Result<DeviceFacts> device_facts(int ordinal) {
    int major = 0, minor = 0;
    DeviceFacts facts;
    SDPA_GRAPH_TRY(check_driver());
    SDPA_GRAPH_TRY(get(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, ordinal));
    SDPA_GRAPH_TRY(get(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, ordinal));
    SDPA_GRAPH_TRY(get(facts.multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, ordinal));
    facts.compute_capability = major * 10 + minor;
    return facts;
}

namespace {

struct File {
    std::string_view name, text;
};

constexpr File kFiles[] = {
#include "rates.inc"
};

std::optional<double> read_line(std::string_view line, std::string_view name) {
    if (line.size() <= name.size() || !line.starts_with(name) || line[name.size()] != ' ') return {};
    double value = 0.0;
    std::from_chars(line.data() + name.size() + 1, line.data() + line.size(), value);
    return value > 0.0 ? std::optional(value) : std::nullopt;
}

}  // namespace

std::string driver_version_text(std::int64_t version) {
    constexpr std::int64_t kThousand = 1000, kTen = 10;
    return std::to_string(version / kThousand) + "." + std::to_string(version % kThousand / kTen);
}

std::string model_of(std::string_view device_name) {
    constexpr std::string_view kOfMaker[] = {"nvidia", "geforce", "tesla"};
    std::string model, word;
    for (char const c : std::string(device_name) + ' ') {
        if (c != ' ' && c != '-') {
            word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
            continue;
        }
        if (std::ranges::find(kOfMaker, word) == std::end(kOfMaker)) model += word;
        if (word.find_first_of("0123456789") != std::string::npos) break;
        word.clear();
    }
    return model;
}

std::string_view rates_of_model(std::string_view model) {
    std::string const name = std::string(model) + ".txt";
    auto const file = std::ranges::find(kFiles, name, &File::name);
    return file == std::end(kFiles) ? std::string_view() : file->text;
}

std::optional<double> read_rate(std::string_view rates, std::string_view name) {
    while (!rates.empty()) {
        std::size_t const end = std::min(rates.find('\n'), rates.size());
        if (auto const value = read_line(rates.substr(0, end), name)) return value;
        rates.remove_prefix(std::min(end + 1, rates.size()));
    }
    return {};
}

}  // namespace cudnn_frontend::cuda
