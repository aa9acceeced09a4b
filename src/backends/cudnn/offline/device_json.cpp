#include "cudnn/offline/devices.h"

#include "core/findings.h"
#include "cuda/device_facts.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

namespace cudnn_frontend::offline {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMaxBytes = std::size_t{64} << 10;
constexpr int kMaxDepth = 8;  // the parser's clean-up is recursive
constexpr std::int64_t kFormat = 1;
constexpr char const* kWrapperMembers[] = {"format", "name", "source", "properties"};
constexpr char const* kDeviceName = "deviceName";  // the only text
// cuDNN 9.19 refuses a description that lacks one of these without saying which.
constexpr char const* kProperties[] = {
    "maxGridSize",
    "maxBlockSize",
    "regsPerBlock",
    "multiProcessorCount",
    "warpSize",
    "maxSharedMemoryPerBlock",
    "maxSharedMemoryPerBlockOptin",
    "reservedSharedMemoryPerBlock",
    "maxRegistersPerSM",
    "maxCtasPerSM",
    "maxThreadsPerBlock",
    "maxThreadsPerSM",
    "pciDeviceId",
    "isTccDriver",
    "supportCoopLaunch",
    "totalGlobalMem",
    "smClockRateKHz",
    "memClockRateKHz",
    "l2CacheSize",
    "cudaDeviceId",
    "deviceVer",
    "driverVer",
    kDeviceName,
};

error_t refused(std::string found, std::string needed) {
    return core::error_at("the device description", error_code_t::INVALID_VALUE, std::move(found), std::move(needed));
}

std::string quoted(std::string const& text) {
    return OrderedJson(text).dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

// Refuses duplicate members, of which the parser would keep the last.
Result<OrderedJson> read_once_each(std::string_view text) {
    std::vector<std::set<std::string>> open_objects;
    std::string twin;
    auto const watch = [&](int, OrderedJson::parse_event_t event, OrderedJson& value) {
        if (event == OrderedJson::parse_event_t::object_start) open_objects.emplace_back();
        if (event == OrderedJson::parse_event_t::object_end) open_objects.pop_back();
        if (event == OrderedJson::parse_event_t::key && !open_objects.back().insert(value.get<std::string>()).second) {
            twin = quoted(value.get<std::string>());
        }
        return true;
    };
    OrderedJson json = OrderedJson::parse(text.begin(), text.end(), watch);
    if (!twin.empty()) return refused("the member " + twin + " twice", "each member once");
    return json;
}

// The nesting depth of lists and objects, in text that need not be JSON.
int depth_of(std::string_view text) {
    int depth = 0, deepest = 0;
    bool is_in_text = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        char const c = text[i];
        if (is_in_text && c == '\\') {
            ++i;
        } else if (c == '"') {
            is_in_text = !is_in_text;
        } else if (!is_in_text && (c == '[' || c == '{')) {
            deepest = std::max(deepest, ++depth);
        } else if (!is_in_text && (c == ']' || c == '}')) {
            --depth;
        }
    }
    return deepest;
}

Result<OrderedJson> read(std::string_view text) {
    if (text.size() > kMaxBytes) {
        return refused(std::to_string(text.size()) + " bytes", "at most " + std::to_string(kMaxBytes));
    }
    // The parser would treat a zero byte as the end and ignore the rest.
    if (auto const zero = text.find('\0'); zero != std::string_view::npos) {
        return refused("a zero byte at byte " + std::to_string(zero + 1), "JSON text");
    }
    if (depth_of(text) > kMaxDepth) {
        return refused("lists or objects deeper in one another", "at most " + std::to_string(kMaxDepth) + " levels");
    }
    try {
        return read_once_each(text);
    } catch (OrderedJson::parse_error const& error) {
        return refused("other text at byte " + std::to_string(error.byte), "JSON text");
    } catch (OrderedJson::exception const&) {
        return refused("a number that is out of range", "numbers of 64 bits");
    }
}

bool is_scalar(OrderedJson const& value) { return value.is_number() || value.is_string() || value.is_boolean(); }

bool are_whole_numbers(OrderedJson const& value) {
    auto const is_whole = [](OrderedJson const& number) {
        constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
        return number.is_number_unsigned() && number.get<std::uint64_t>() <= kMost;
    };
    return value.is_array() ? std::all_of(value.begin(), value.end(), is_whole) : is_whole(value);
}

// cuDNN refuses others without naming the property.
error_t check_numbers(OrderedJson const& properties) {
    for (char const* const name : kProperties) {
        if (name == kDeviceName || are_whole_numbers(properties[name])) continue;
        return refused(properties[name].dump(-1, ' ', false, OrderedJson::error_handler_t::replace) + " as property " +
                           quoted(name),
                       "a whole number of 0 or more, or a list of those");
    }
    return {};
}

error_t check_properties(OrderedJson const& properties) {
    if (!properties.is_object()) return refused("properties of another kind", "cuDNN's properties as an object");
    std::string missing;
    for (char const* const name : kProperties) {
        if (!properties.contains(name)) missing += (missing.empty() ? "" : ", ") + std::string(name);
    }
    if (!missing.empty()) return refused("no " + missing, "all properties that cuDNN needs");
    for (auto const& [name, value] : properties.items()) {
        bool const is_list = value.is_array() && std::all_of(value.begin(), value.end(), is_scalar);
        if (!is_scalar(value) && !is_list) {
            return refused("another kind of value as property " + quoted(name), "a number, a text or a list of those");
        }
    }
    return {};
}

Result<int> read_number(OrderedJson const& properties, char const* name, std::int64_t least, std::int64_t most) {
    OrderedJson const& value = properties[name];
    if (value.is_number_integer() && value >= least && value <= most) return value.get<int>();
    return refused(value.dump() + " as property " + quoted(name),
                   "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
}

Result<std::string> read_text(OrderedJson const& object, char const* name) {
    auto const at = object.find(name);
    bool const is_text = at != object.end() && at->is_string() && !at->get_ref<std::string const&>().empty();
    if (!is_text) return refused("none as \"" + std::string(name) + "\"", "a text that is not empty");
    return at->get<std::string>();
}

Result<DeviceDescription> from_properties(OrderedJson const& properties) {
    SDPA_GRAPH_TRY(check_properties(properties));
    auto const name = read_text(properties, "deviceName");
    if (name.is_bad()) return name.error();
    auto const version = read_number(properties, "deviceVer", 100, 9999);
    if (version.is_bad()) return version.error();
    auto const sm_count = read_number(properties, "multiProcessorCount", 1, 100'000);
    if (sm_count.is_bad()) return sm_count.error();
    SDPA_GRAPH_TRY(check_numbers(properties));
    return DeviceDescription{name.value(), "", properties.dump(), version.value() / 10, sm_count.value()};
}

bool is_file_name(std::string_view name) {
    auto const fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
    return !name.empty() && std::ranges::all_of(name, fits);
}

error_t check_wrapper(OrderedJson const& json) {
    for (auto const& [name, value] : json.items()) {
        if (std::find(std::begin(kWrapperMembers), std::end(kWrapperMembers), name) == std::end(kWrapperMembers)) {
            return refused("an unknown member " + quoted(name), "format, name, source and properties");
        }
    }
    for (char const* const name : kWrapperMembers) {
        if (!json.contains(name))
            return refused("no member \"" + std::string(name) + "\"", "format, name, source and properties");
    }
    bool const is_known = json["format"].is_number_integer() && json["format"] == kFormat;
    return is_known ? error_t() : refused("the format " + json["format"].dump(), std::to_string(kFormat));
}

Result<DeviceDescription> from_wrapper(OrderedJson const& json) {
    SDPA_GRAPH_TRY(check_wrapper(json));
    auto const name = read_text(json, "name");
    if (name.is_bad()) return name.error();
    auto const source = read_text(json, "source");
    if (source.is_bad()) return source.error();
    auto device = from_properties(json["properties"]);
    if (device.is_bad()) return device.error();
    device.value().name = name.value();
    device.value().source = source.value();
    return device;
}

}  // namespace

Result<DeviceDescription> parse_device(std::string_view text) {
    auto const json = read(text);
    if (json.is_bad()) return json.error();
    if (!json.value().is_object()) return refused("another kind of value", "a JSON object");
    bool const is_wrapper = json.value().contains("format") || json.value().contains("properties");
    return is_wrapper ? from_wrapper(json.value()) : from_properties(json.value());
}

Result<DeviceDescription> recorded_device(std::string_view properties, std::string_view name,
                                          std::string_view cudnn_version) {
    auto const json = read(properties);
    if (json.is_bad()) return json.error();
    auto device = from_properties(json.value());
    if (device.is_bad()) return device.error();
    auto const driver = read_number(json.value(), "driverVer", 1000, 999'999);
    if (driver.is_bad()) return driver.error();
    DeviceDescription& recorded = device.value();
    recorded.source = "recorded on " + recorded.name + " with cuDNN " + std::string(cudnn_version) +
                      " and CUDA driver " + cuda::driver_version_text(driver.value());
    std::string const called = name.empty() ? cuda::model_of(recorded.name) : std::string(name);
    recorded.name = called;
    if (is_file_name(called)) return device;
    return refused("the name " + quoted(called), "small letters, digits and dashes, such as h100-pcie");
}

std::string to_json(DeviceDescription const& device) {
    std::string rows;
    OrderedJson const properties = OrderedJson::parse(device.properties, nullptr, false);
    for (auto const& [name, value] : properties.items()) {
        rows += (rows.empty() ? "\n    " : ",\n    ") + quoted(name) + ": " + value.dump();
    }
    return "{\n  \"format\": " + std::to_string(kFormat) + ",\n  \"name\": " + quoted(device.name) +
           ",\n  \"source\": " + quoted(device.source) + ",\n  \"properties\": {" + rows + "\n  }\n}\n";
}

}  // namespace cudnn_frontend::offline
