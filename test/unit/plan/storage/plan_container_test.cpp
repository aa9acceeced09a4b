// Stored plans whose bytes were changed or cut are refused, wherever that was, and never more than refused.
#include "plan/storage/plan_container.h"

#include "plan/storage/blob.h"

#include "support/catch.h"
#include "support/random.h"
#include "support/small_graph.h"

using namespace cudnn_frontend;
using plan::PlanContainer;
using Bytes = std::vector<std::uint8_t>;

namespace {

constexpr std::size_t kHeaderBytes = 24;  // name, format, checksum

PlanContainer container() {
    sdpa_test::Random random(23);
    PlanContainer made{Target::Kind::OFFLINE,
                       R"({"nodes":[{"tag":"SDPA_FWD"}]})",
                       {"eng4_k24=7", ""},
                       4096,
                       {.device = "a GPU", .library_version = 91900, .kernels = {"first", "second"}}};
    for (int i = 0; i < 300; ++i) made.plan.bytes += static_cast<char>(random.between(0, 255));
    return made;
}

Bytes flipped(Bytes bytes, std::size_t at, int mask) {
    bytes[at] = static_cast<std::uint8_t>(bytes[at] ^ mask);
    return bytes;
}

Bytes cut(Bytes const& bytes, std::size_t size) {
    return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)};
}

// The bytes as if their content after the header had been written so: with the checksum that it has.
Bytes with_checksum(Bytes bytes) {
    std::string const body(bytes.begin() + kHeaderBytes, bytes.end());
    plan::BlobWriter writer;
    writer.number(static_cast<std::int64_t>(plan::checksum(body)));
    std::string const number = writer.take();
    std::copy(number.begin(), number.end(), bytes.begin() + kHeaderBytes - 8);
    return bytes;
}

void check_refused(Bytes const& bytes) {
    auto const read = plan::read_container(bytes);
    REQUIRE(read.is_bad());
    CHECK(read.error().get_code() == error_code_t::UNSUPPORTED_GRAPH_FORMAT);
    CHECK(read.error().err_msg.find("the bytes are no stored plan that this library can read: ") == 0);
}

}  // namespace

TEST_CASE("a container comes back as it was written") {
    for (auto const target : {Target::Kind::CPU, Target::Kind::REFERENCE, Target::Kind::CUDA, Target::Kind::OFFLINE,
                              Target::Kind::STREAM}) {
        PlanContainer written = container();
        written.target = target;
        auto const read = plan::read_container(plan::write_container(written));
        REQUIRE(read.is_good());
        CHECK(read.value().target == target);
        CHECK(read.value().graph_json == written.graph_json);
        CHECK(read.value().plan == written.plan);
        CHECK(read.value().workspace_bytes == written.workspace_bytes);
        CHECK(read.value().facts == written.facts);
    }
}

TEST_CASE("every changed byte of a container is noticed") {
    Bytes const bytes = plan::write_container(container());
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        for (int const mask : {0x01, 0x10, 0x80, 0xff}) {
            CAPTURE(at, mask);
            check_refused(flipped(bytes, at, mask));
        }
    }
}

TEST_CASE("a container of another format is refused with what to do") {
    auto const answer_to = [](int format) {
        Bytes bytes = plan::write_container(container());
        bytes[8] = static_cast<std::uint8_t>(format);
        return plan::read_container(bytes).error().get_message();
    };
    std::string const start = "the bytes are no stored plan that this library can read: found the format ";
    std::string const end = "; expected 4. Try: store the plan again with serialize().";
    for (char const* const older : {"1", "2", "3"})
        CHECK(answer_to(older[0] - '0') == start + older + ", which an older version wrote" + end);
    CHECK(answer_to(5) == start + "5" + end);
    CHECK(answer_to(0) == start + "0" + end);
    CHECK(answer_to(4) == "");
}

TEST_CASE("every cut of a container is noticed, and bytes too many") {
    Bytes const bytes = plan::write_container(container());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        CAPTURE(size);
        check_refused(cut(bytes, size));
        if (size >= kHeaderBytes) check_refused(with_checksum(cut(bytes, size)));
    }
    Bytes longer = bytes;
    longer.push_back(0);
    check_refused(longer);
    check_refused(with_checksum(longer));
}

TEST_CASE("a container with a workspace below 0 is refused") {
    PlanContainer written = container();
    written.workspace_bytes = -1;
    check_refused(plan::write_container(written));
}

TEST_CASE("a container with a checksum that fits is refused for its parts, or holds others") {
    PlanContainer const written = container();
    Bytes const bytes = plan::write_container(written);
    std::size_t const first_text = kHeaderBytes + 16, second_size = first_text + written.graph_json.size();
    for (std::size_t at = kHeaderBytes; at < bytes.size(); ++at) {
        bool const is_size = (at >= kHeaderBytes + 8 && at < first_text) || (at >= second_size && at < second_size + 8);
        for (int const mask : {0x01, 0x10, 0x80, 0xff}) {
            CAPTURE(at, mask);
            Bytes const changed = with_checksum(flipped(bytes, at, mask));
            auto const read = plan::read_container(changed);
            if (is_size) check_refused(changed);
            else if (read.is_good()) CHECK(plan::write_container(read.value()) == changed);
        }
    }
}

TEST_CASE("a stored CPU graph loads, and not with any changed byte or cut") {
    auto small = test::small_graph();
    REQUIRE(small.graph.build(Target::cpu()).is_good());
    Bytes bytes;
    REQUIRE(small.graph.serialize(bytes).is_good());
    graph::Graph loaded;
    REQUIRE(loaded.deserialize(nullptr, bytes).get_message() == "");
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        CAPTURE(at);
        CHECK(loaded.deserialize(nullptr, flipped(bytes, at, 1 << at % 8)).is_bad());
        CHECK(loaded.deserialize(nullptr, cut(bytes, at)).is_bad());
    }
    std::string name;
    CHECK(loaded.get_plan_name(name).is_good());  // the failure changed nothing
}
