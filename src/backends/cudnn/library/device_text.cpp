#include "cudnn/library/device.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace cudnn_frontend::cudnn {
namespace {

struct DeviceMember {
    std::string_view name, value;
};

// The properties that a compiled plan depends on: machine code, the blocks of its launches, and the registers and
// shared memory that these use.
constexpr std::string_view kOfKernels[] = {
    "deviceVer",
    "multiProcessorCount",
    "warpSize",
    "regsPerBlock",
    "maxRegistersPerSM",
    "maxSharedMemoryPerBlock",
    "maxSharedMemoryPerBlockOptin",
    "reservedSharedMemoryPerBlock",
    "maxThreadsPerBlock",
    "maxThreadsPerSM",
    "maxCtasPerSM",
    "maxBlockSize",
    "maxGridSize",
    "supportCoopLaunch",
};

// Removes and returns the text up to one of the ends; removes that character too.
std::string_view cut(std::string_view& text, std::string_view ends) {
    auto const end = std::min(text.find_first_of(ends), text.size());
    std::string_view const part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return part;
}

std::string_view cut_value(std::string_view& text) {
    cut(text, ":");
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.starts_with('"')) {
        cut(text, "\"");
        return cut(text, "\"");
    }
    if (!text.starts_with('[')) return cut(text, ",}");
    std::string_view const list = text;
    return list.substr(0, cut(text, "]").size() + 1);
}

std::vector<DeviceMember> members_of(std::string_view text) {
    std::vector<DeviceMember> members;
    for (cut(text, "\""); !text.empty(); cut(text, "\"")) {
        std::string_view const name = cut(text, "\"");
        members.push_back({name, cut_value(text)});
    }
    return members;
}

std::string_view value_of(std::vector<DeviceMember> const& members, std::string_view name) {
    auto const at = std::ranges::find(members, name, &DeviceMember::name);
    return at == members.end() ? std::string_view() : at->value;
}

std::string or_none(std::string_view value) { return value.empty() ? "none" : std::string(value); }

}  // namespace

std::string_view device_member(std::string_view device, std::string_view name) {
    return value_of(members_of(device), name);
}

std::string members_of_kernels(std::string_view device) {
    auto const members = members_of(device);
    std::string text;
    for (std::string_view const name : kOfKernels) {
        text += std::string(name) + " " + or_none(value_of(members, name)) + "\n";
    }
    return text;
}

std::string with_bus_width(std::string device, int bits) {
    if (!device_member(device, "memoryBusWidth").empty()) return device;
    auto const at = device.find("\"l2CacheSize\"");  // the member that follows it in newer releases
    if (at != std::string::npos) device.insert(at, "\"memoryBusWidth\":" + std::to_string(bits) + ",");
    return device;
}

DeviceDifference difference_of(std::string_view device, std::string_view reference) {
    std::vector<DeviceMember> const found = members_of(device), wanted = members_of(reference);
    DeviceDifference difference;
    auto const compare = [&](std::string_view name) {
        std::string_view const value = value_of(found, name), other = value_of(wanted, name);
        if (value == other) return;
        bool const is_of_kernels = std::ranges::find(kOfKernels, name) != std::end(kOfKernels);
        std::string& text = is_of_kernels ? difference.of_kernels : difference.of_rest;
        text += (text.empty() ? "" : ", ") + std::string(name) + " " + or_none(value) + " instead of " + or_none(other);
    };
    for (DeviceMember const& member : wanted) compare(member.name);
    for (DeviceMember const& member : found) {
        if (std::ranges::find(wanted, member.name, &DeviceMember::name) == wanted.end()) compare(member.name);
    }
    return difference;
}

}  // namespace cudnn_frontend::cudnn
