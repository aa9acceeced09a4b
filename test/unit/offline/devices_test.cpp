#include "offline/devices.h"
#include "support/catch.h"

#include <fstream>
#include <iterator>
#include <map>

using namespace cudnn_frontend;

static std::string file_text(std::string const& name) {
    std::ifstream file(std::string(SDPA_SOURCE_DIR) + "/devices/" + name + ".json");
    REQUIRE(file.good());
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("the devices that come with the library") {
    struct Figures {
        int sm, sm_count;
    };
    std::map<std::string, Figures> const expected = {
        {"a100", {80, 108}}, {"b200", {100, 148}},   {"h100", {90, 132}},    {"h200", {90, 132}},
        {"l40s", {89, 142}}, {"rtx4090", {89, 128}}, {"rtx5090", {120, 170}}};
    auto const devices = offline::known_devices();
    REQUIRE(devices.size() == expected.size());
    auto at = devices.begin();
    for (auto const& [name, figures] : expected) {
        INFO(name);
        CHECK(at->name == name);
        CHECK(at->sm == figures.sm);
        CHECK(at->sm_count == figures.sm_count);
        CHECK(at->source.find(name == "h200" ? "recorded on" : "derived from published figures") == 0);
        ++at;
    }
}

TEST_CASE("the files of devices are as to_json() writes them") {
    for (auto const& device : offline::known_devices()) {
        INFO(device.name);
        CHECK(offline::to_json(device) == file_text(device.name));
    }
}

TEST_CASE("a device is found by its name, whatever the case of letters") {
    for (char const* name : {"rtx4090", "RTX4090", "Rtx4090"}) {
        auto const device = offline::find_device(name);
        REQUIRE(device.is_good());
        CHECK(device.value().name == "rtx4090");
        CHECK(device.value().properties.find("\"deviceName\":\"NVIDIA GeForce RTX 4090\"") != std::string::npos);
    }
}

TEST_CASE("an unknown device is an error that tells the known ones") {
    for (std::string const name : {"h20", "h2000", ""}) {
        auto const device = offline::find_device(name);
        REQUIRE(device.is_bad());
        CHECK(device.error().get_code() == error_code_t::INVALID_CUDA_DEVICE);
        CHECK(device.error().err_msg == "no device description is called '" + name +
                                            "'; there are a100, b200, h100, h200, l40s, rtx4090, rtx5090, and "
                                            "DeviceProperties::from_json() takes others");
    }
}
