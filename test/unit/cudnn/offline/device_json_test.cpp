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
    std::string const start = "the device description: ";
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
    CHECK(problem("") == "found other text at byte 1; expected JSON text.");
    CHECK(problem("{\"a\": }") == "found other text at byte 7; expected JSON text.");
    CHECK(problem(bare() + "x") ==
          "found other text at byte " + std::to_string(bare().size() + 1) + "; expected JSON text.");
    CHECK(problem(bare() + '\0') ==
          "found a zero byte at byte " + std::to_string(bare().size() + 1) + "; expected JSON text.");
    CHECK(problem("{\"a\": 1e999}") == "found a number that is out of range; expected numbers of 64 bits.");
    CHECK(problem("[1]") == "found another kind of value; expected a JSON object.");
    CHECK(problem("7") == "found another kind of value; expected a JSON object.");
}

TEST_CASE("properties other than the name are whole numbers") {
    for (std::string const value : {"\"x\"", "true", "1.5", "-1", "9223372036854775808", "[1,-1]"}) {
        CHECK(problem(bare("\"warpSize\":32", "\"warpSize\":" + value)) ==
              "found " + value +
                  " as property \"warpSize\"; expected a whole number of 0 or more, or a list of those.");
    }
}

TEST_CASE("hostile text is refused") {
    CHECK(problem(std::string(100'000, ' ')) == "found 100000 bytes; expected at most 65536.");
    std::string const kTooDeep = "found lists or objects deeper in one another; expected at most 8 levels.";
    CHECK(problem(std::string(65'000, '[')) == kTooDeep);
    std::string const deep = std::string(30'000, '[') + std::string(30'000, ']');
    CHECK(problem(deep) == kTooDeep);
    CHECK(problem(bare_with("\"deep\":" + deep)) == kTooDeep);
    CHECK(problem("[[[[[[[[]]]]]]]]") == "found another kind of value; expected a JSON object.");
    CHECK(problem("[[[[[[[[[]]]]]]]]]") == kTooDeep);
    CHECK(offline::parse_device(bare_with("\"brackets\":\"[[[[[[[[[[\\\"[[\"")).is_good());
    CHECK(problem("{\"\xff\": 1}").find("found other text at byte ") == 0);
}

TEST_CASE("members that stand twice are refused") {
    CHECK(problem(bare_with("\"deviceVer\":800")) ==
          "found the member \"deviceVer\" twice; expected each member once.");
    CHECK(problem(wrapped(R"({"a":1,"a":1})")) == "found the member \"a\" twice; expected each member once.");
}

TEST_CASE("properties that are missing are told") {
    CHECK(problem(bare("\"warpSize\":32,", "")) == "found no warpSize; expected all properties that cuDNN needs.");
    CHECK(problem(wrapped(bare("\"warpSize\":32,", ""))) ==
          "found no warpSize; expected all properties that cuDNN needs.");
    CHECK(problem(bare("\"deviceVer\":900,\"driverVer\":13000,", "")) ==
          "found no deviceVer, driverVer; expected all properties that cuDNN needs.");
}

TEST_CASE("properties that the library reads itself are checked") {
    CHECK(problem(bare("\"NVIDIA H200\"", "\"\"")) ==
          "found none as \"deviceName\"; expected a text that is not empty.");
    CHECK(problem(bare("\"NVIDIA H200\"", "200")) ==
          "found none as \"deviceName\"; expected a text that is not empty.");
    for (std::string const version : {"90", "10000", "900.5", "\"900\"", "-900", "[900]", "18446744073709551615"}) {
        CHECK(problem(bare("\"deviceVer\":900", "\"deviceVer\":" + version)) ==
              "found " + version + " as property \"deviceVer\"; expected a whole number from 100 to 9999.");
    }
    CHECK(problem(bare("\"multiProcessorCount\":132", "\"multiProcessorCount\":0")) ==
          "found 0 as property \"multiProcessorCount\"; expected a whole number from 1 to 100000.");
    for (std::string const value : {"{}", "null", "[null]", "[[1]]"}) {
        CHECK(problem(bare_with("\"more\":" + value)) ==
              "found another kind of value as property \"more\"; expected a number, a text or a list of those.");
    }
}

TEST_CASE("a file's members are checked") {
    CHECK(problem(R"({"format": 1, "name": "x", "source": "y"})") ==
          "found no member \"properties\"; expected format, name, source and properties.");
    CHECK(problem(R"({"properties": {}})") ==
          "found no member \"format\"; expected format, name, source and properties.");
    CHECK(problem(R"({"format": 2, "name": "x", "source": "y", "properties": {}})") ==
          "found the format 2; expected 1.");
    CHECK(problem(R"({"format": 1, "name": "", "source": "y", "properties": {}})") ==
          "found none as \"name\"; expected a text that is not empty.");
    CHECK(problem(R"({"format": 1, "name": "x", "source": 5, "properties": {}})") ==
          "found none as \"source\"; expected a text that is not empty.");
    CHECK(problem(R"({"format": 1, "name": "x", "source": "y", "properties": []})") ==
          "found properties of another kind; expected cuDNN's properties as an object.");
    CHECK(problem(R"({"format": 1, "nmae": "x"})") ==
          "found an unknown member \"nmae\"; expected format, name, source and properties.");
}
