#include "cudnn/library/device.h"

#include "support/catch.h"

using namespace cudnn_frontend;

namespace {

// Two boards of one kind.
std::string const kH100 =
    R"({"maxGridSize":[2147483647,65535,65535],"multiProcessorCount":132,"totalGlobalMem":85899345920,"l2CacheSize":52428800,"deviceVer":900,"deviceName":"NVIDIA H100 80GB HBM3"})";
std::string const kH200 =
    R"({"maxGridSize": [2147483647,65535,65535], "multiProcessorCount": 132, "totalGlobalMem": 150109880320, "l2CacheSize": 52428800, "deviceVer": 900, "deviceName": "NVIDIA H200"})";

std::string with(std::string text, std::string const& old_part, std::string const& new_part) {
    REQUIRE(text.find(old_part) != text.npos);
    return text.replace(text.find(old_part), old_part.size(), new_part);
}

}  // namespace

TEST_CASE("a member of a device is found, whatever stands around it") {
    for (std::string const& device : {kH100, kH200}) {
        CHECK(cudnn::device_member(device, "maxGridSize") == "[2147483647,65535,65535]");
        CHECK(cudnn::device_member(device, "deviceVer") == "900");
        CHECK(cudnn::device_member(device, "warpSize") == "");
    }
    CHECK(cudnn::device_member(kH100, "deviceName") == "NVIDIA H100 80GB HBM3");
}

TEST_CASE("boards of one kind differ in nothing that kernels depend on") {
    auto const difference = cudnn::difference_of(kH100, kH200);
    CHECK(difference.of_kernels == "");
    CHECK(
        difference.of_rest ==
        "totalGlobalMem 85899345920 instead of 150109880320, deviceName NVIDIA H100 80GB HBM3 instead of NVIDIA H200");
    auto const none = cudnn::difference_of(kH100, kH100);
    CHECK(none.of_kernels + none.of_rest == "");
}

TEST_CASE("what kernels depend on is told apart from the rest, and so is what one device does not say") {
    std::string const fewer = with(kH200, "\"multiProcessorCount\": 132", "\"multiProcessorCount\": 114");
    CHECK(cudnn::difference_of(fewer, kH200).of_kernels == "multiProcessorCount 114 instead of 132");
    CHECK(cudnn::difference_of(fewer, kH200).of_rest == "");
    std::string const grid = with(kH200, "65535,65535]", "65535,1024]");
    CHECK(cudnn::difference_of(grid, kH200).of_kernels ==
          "maxGridSize [2147483647,65535,1024] instead of [2147483647,65535,65535]");
    std::string const more = with(kH100, "{", R"({"warpSize":32,"uuid":"a",)");
    CHECK(cudnn::difference_of(more, kH100).of_kernels == "warpSize 32 instead of none");
    CHECK(cudnn::difference_of(more, kH100).of_rest == "uuid a instead of none");
    CHECK(cudnn::difference_of(kH100, more).of_kernels == "warpSize none instead of 32");
    CHECK(cudnn::difference_of("{}", R"({"deviceVer":900})").of_kernels == "deviceVer none instead of 900");
}

TEST_CASE("text that was cut, or is of something else, is read to its end") {
    std::size_t const last_needed = kH200.find("900") + 2;
    for (std::size_t end = 0; end < kH200.size(); ++end) {
        CAPTURE(end);
        bool const differs = !cudnn::difference_of(kH200.substr(0, end), kH200).of_kernels.empty();
        CHECK(differs == (end <= last_needed));
    }
    CHECK(cudnn::difference_of("nothing", "").of_kernels == "");
}

TEST_CASE("a device gets the width of its memory bus where cuDNN left it out") {
    std::string const device = cudnn::with_bus_width(kH100, 5120);
    CHECK(device == with(kH100, "\"l2CacheSize\"", "\"memoryBusWidth\":5120,\"l2CacheSize\""));
    CHECK(cudnn::with_bus_width(device, 1) == device);
    CHECK(cudnn::with_bus_width("{}", 1) == "{}");
}
