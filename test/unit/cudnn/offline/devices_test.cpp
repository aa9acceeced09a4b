#include "cudnn/offline/devices.h"

#include "cuda/device_facts.h"
#include "support/catch.h"

#include <fstream>
#include <iterator>

using namespace cudnn_frontend;

static std::string file_text(std::string const& name) {
    std::ifstream file(SDPA_SOURCE_DIR "/" + name);
    REQUIRE(file.good());
    return {std::istreambuf_iterator<char>(file), {}};
}

// "| name | device | compute capability | SMs | figures |" in docs/offline.md.
static std::string documented(offline::DeviceDescription const& device) {
    std::string const text = file_text("docs/offline.md");
    auto const begin = text.find("\n| " + device.name + " | ");
    REQUIRE(begin != text.npos);
    std::string const row = text.substr(begin + 1, text.find('\n', begin + 1) - begin - 1);
    return row.substr(row.find(" | ", device.name.size() + 3));  // behind the device's name in words
}

TEST_CASE("the devices that come with the library are those of the document, with the same figures") {
    auto const devices = offline::known_devices();
    CHECK(devices.size() == 7);
    for (offline::DeviceDescription const& device : devices) {
        INFO(device.name);
        bool const is_recorded = device.source.find("recorded on ") == 0;
        CHECK((is_recorded || device.source == "derived from published figures"));
        CHECK(documented(device) == " | " + std::to_string(device.sm / 10) + "." + std::to_string(device.sm % 10) +
                                        " | " + std::to_string(device.sm_count) + " | " +
                                        (is_recorded ? "recorded" : "derived") + " |");
    }
}

TEST_CASE("the model of a device is its name without the maker's words and what follows the number") {
    CHECK(cudnn_frontend::cuda::model_of("NVIDIA H100 80GB HBM3") == "h100");
    CHECK(cudnn_frontend::cuda::model_of("NVIDIA H200") == "h200");
    CHECK(cudnn_frontend::cuda::model_of("NVIDIA A100-SXM4-80GB") == "a100");
    CHECK(cudnn_frontend::cuda::model_of("NVIDIA GeForce RTX 4090") == "rtx4090");
    CHECK(cudnn_frontend::cuda::model_of("NVIDIA RTX 6000 Ada Generation") == "rtx6000");
    CHECK(cudnn_frontend::cuda::model_of("Tesla V100-SXM2-16GB") == "v100");
    CHECK(cudnn_frontend::cuda::model_of("NVIDIA") == "");
}

TEST_CASE("what a device says of itself becomes a file of devices") {
    auto const h200 = offline::find_device("h200");
    REQUIRE(h200.is_good());
    std::string const& properties = h200.value().properties;
    auto const recorded = offline::recorded_device(properties, "", "9.19.0");
    REQUIRE(recorded.is_good());
    CHECK(recorded.value().name == "h200");
    CHECK(recorded.value().source == "recorded on NVIDIA H200 with cuDNN 9.19.0 and CUDA driver 13.0");
    auto const read_back = offline::parse_device(offline::to_json(recorded.value()));
    REQUIRE(read_back.is_good());
    CHECK(read_back.value().properties == properties);
    CHECK(offline::recorded_device(properties, "h200-nvl", "9.19.0").value().name == "h200-nvl");
    for (std::string const name : {"../h200", "H200", "h 200"}) {
        CHECK(offline::recorded_device(properties, name, "9.19.0").error().err_msg ==
              "the device description: found the name \"" + name +
                  "\"; expected small letters, digits and dashes, such as h100-pcie.");
    }
    CHECK(
        offline::recorded_device("{}", "", "9.19.0").error().err_msg.find("expected all properties that cuDNN needs") !=
        std::string::npos);
}

TEST_CASE("the files of devices are as to_json() writes them") {
    for (auto const& device : offline::known_devices()) {
        INFO(device.name);
        CHECK(offline::to_json(device) == file_text("devices/" + device.name + ".json"));
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
                                            "DeviceProperties::from_json() reads others");
    }
}
