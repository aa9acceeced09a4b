#include "cudnn/offline/devices.h"
#include "support/catch.h"

using namespace cudnn_frontend;

namespace {

// cuDNN's JSON of a device. Tests replace a part of it.
std::string bare(std::string const& part = "", std::string const& replacement = "") {
    auto const device = offline::find_device("h200");
    REQUIRE(device.is_good());
    std::string text = device.value().properties;
    auto const at = text.find(part);
    REQUIRE(at != text.npos);
    return text.replace(at, part.size(), replacement);
}

std::string bare_with(std::string const& member) { return bare("{", "{" + member + ","); }

std::string wrapped(std::string const& properties) {
    return R"({"format": 1, "name": "mine", "source": "a test", "properties": )" + properties + "}";
}

// The error for a text.
std::string problem(std::string const& text) {
    auto const device = offline::parse_device(text);
    if (device.is_good()) return "nothing";
    CHECK(device.error().get_code() == error_code_t::INVALID_VALUE);
    std::string const start = "the device description ";
    CHECK(device.error().err_msg.find(start) == 0);
    return device.error().err_msg.substr(start.size());
}

}  // namespace

TEST_CASE("a description is read from cuDNN's own JSON") {
    std::string const text = bare("\"deviceVer\":900", "\"deviceVer\":1030");
    auto const device = offline::parse_device(text);
    REQUIRE(device.is_good());
    CHECK(device.value().name == "NVIDIA H200");
    CHECK(device.value().source.empty());
    CHECK(device.value().properties == text);
    CHECK(device.value().sm == 103);
    CHECK(device.value().sm_count == 132);
}

TEST_CASE("a description is read from a file's JSON, and written as such") {
    auto const device = offline::parse_device(wrapped(bare_with("\"new in cuDNN\": true")));
    REQUIRE(device.is_good());
    CHECK(device.value().name == "mine");
    CHECK(device.value().source == "a test");
    CHECK(device.value().properties == bare_with("\"new in cuDNN\":true"));
    std::string const text = offline::to_json(device.value());
    std::string const start =
        "{\n  \"format\": 1,\n  \"name\": \"mine\",\n  \"source\": \"a test\",\n  \"properties\": {\n"
        "    \"new in cuDNN\": true,\n    \"maxGridSize\": [2147483647,65535,65535],\n";
    CHECK(text.substr(0, start.size()) == start);
    auto const again = offline::parse_device(text);
    REQUIRE(again.is_good());
    CHECK(again.value().properties == device.value().properties);
}

TEST_CASE("text that is no JSON object is refused") {
    CHECK(problem("") == "is not JSON text: see byte 1");
    CHECK(problem("{\"a\": }") == "is not JSON text: see byte 7");
    CHECK(problem(bare() + "x") == "is not JSON text: see byte " + std::to_string(bare().size() + 1));
    CHECK(problem(bare() + '\0') ==
          "has a zero byte at byte " + std::to_string(bare().size() + 1) + "; JSON text is needed");
    CHECK(problem("{\"a\": 1e999}") == "has a number that is out of range");
    CHECK(problem("[1]") == "is no JSON object");
    CHECK(problem("7") == "is no JSON object");
}

TEST_CASE("hostile text is refused") {
    CHECK(problem(std::string(100'000, ' ')) == "has 100000 bytes, at most 65536 are read");
    std::string const kTooDeep = "has lists or objects deeper than 8 in one another";
    CHECK(problem(std::string(65'000, '[')) == kTooDeep);
    std::string const deep = std::string(30'000, '[') + std::string(30'000, ']');
    CHECK(problem(deep) == kTooDeep);
    CHECK(problem(bare_with("\"deep\":" + deep)) == kTooDeep);
    CHECK(problem("[[[[[[[[]]]]]]]]") == "is no JSON object");
    CHECK(problem("[[[[[[[[[]]]]]]]]]") == kTooDeep);
    CHECK(offline::parse_device(bare_with("\"brackets\":\"[[[[[[[[[[\\\"[[\"")).is_good());
    CHECK(problem("{\"\xff\": 1}").find("is not JSON text: see byte ") == 0);
}

TEST_CASE("members that stand twice are refused") {
    CHECK(problem(bare_with("\"deviceVer\":800")) == "has the member \"deviceVer\" twice");
    CHECK(problem(wrapped(R"({"a":1,"a":1})")) == "has the member \"a\" twice");
}

TEST_CASE("properties that are missing are told") {
    CHECK(problem(bare("\"warpSize\":32,", "")) == "lacks properties that cuDNN needs: warpSize");
    CHECK(problem(wrapped(bare("\"warpSize\":32,", ""))) == "lacks properties that cuDNN needs: warpSize");
    CHECK(problem(bare("\"deviceVer\":900,\"driverVer\":13000,", "")) ==
          "lacks properties that cuDNN needs: deviceVer, driverVer");
}

TEST_CASE("properties that the library reads itself are checked") {
    CHECK(problem(bare("\"NVIDIA H200\"", "\"\"")) == "needs a text that is not empty as \"deviceName\"");
    CHECK(problem(bare("\"NVIDIA H200\"", "200")) == "needs a text that is not empty as \"deviceName\"");
    for (std::string const version : {"90", "10000", "900.5", "\"900\"", "-900", "[900]", "18446744073709551615"}) {
        CHECK(problem(bare("\"deviceVer\":900", "\"deviceVer\":" + version)) ==
              "has " + version + " as property \"deviceVer\"; expected a whole number from 100 to 9999");
    }
    CHECK(problem(bare("\"multiProcessorCount\":132", "\"multiProcessorCount\":0")) ==
          "has 0 as property \"multiProcessorCount\"; expected a whole number from 1 to 100000");
    for (std::string const value : {"{}", "null", "[null]", "[[1]]"}) {
        CHECK(problem(bare_with("\"more\":" + value)) ==
              "has neither a number, a text nor a list of those as property \"more\"");
    }
}

TEST_CASE("a file's members are checked") {
    CHECK(problem(R"({"format": 1, "name": "x", "source": "y"})") == "lacks member \"properties\"");
    CHECK(problem(R"({"properties": {}})") == "lacks member \"format\"");
    CHECK(problem(R"({"format": 2, "name": "x", "source": "y", "properties": {}})") ==
          "is of a format that this version does not read; it reads format 1");
    CHECK(problem(R"({"format": 1, "name": "", "source": "y", "properties": {}})") ==
          "needs a text that is not empty as \"name\"");
    CHECK(problem(R"({"format": 1, "name": "x", "source": 5, "properties": {}})") ==
          "needs a text that is not empty as \"source\"");
    CHECK(problem(R"({"format": 1, "name": "x", "source": "y", "properties": []})") ==
          "needs cuDNN's properties as an object");
    CHECK(problem(R"({"format": 1, "nmae": "x"})") ==
          "has an unknown member \"nmae\"; known are format, name, source and properties");
}
