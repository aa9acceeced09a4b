#include "plan/storage/plan_container.h"

#include "core/findings.h"
#include "plan/storage/blob.h"

namespace cudnn_frontend::plan {
namespace {

constexpr std::string_view kMagic = "sdpaplan";
// 1 had a plan's knobs only in its engine's name, 2 no engine for backends to know their own plans by, 3 no facts that
// can be read without loading the plan.
constexpr std::int64_t kFormat = 4;
constexpr std::size_t kHeaderBytes = kMagic.size() + 16;  // magic, format, checksum of the rest

constexpr char const* kPlace = "the bytes are no stored plan that this library can read";
constexpr char const* kFix = "store the plan again with serialize()";

error_t invalid(std::string const& found) {
    return {error_code_t::UNSUPPORTED_GRAPH_FORMAT, std::string(kPlace) + ": " + found + "; " + kFix};
}

error_t wrong_format(std::int64_t format) {
    std::string const whose = format >= 1 && format < kFormat ? ", which an older version wrote" : "";
    return core::error_at(kPlace, error_code_t::UNSUPPORTED_GRAPH_FORMAT,
                          "the format " + std::to_string(format) + whose, std::to_string(kFormat), kFix);
}

void write(ExecutableFacts const& facts, BlobWriter& writer) {
    writer.text(facts.device);
    writer.number(facts.library_version);
    writer.number(static_cast<std::int64_t>(facts.kernels.size()));
    for (std::string const& kernel : facts.kernels) writer.text(kernel);
}

ExecutableFacts read_facts(BlobReader& reader) {
    constexpr std::size_t kNumber = 8;  // bytes; a text has one before it
    ExecutableFacts facts{.device = std::string(reader.text()), .library_version = reader.number()};
    for (std::size_t left = reader.count(kNumber); left > 0; --left) facts.kernels.emplace_back(reader.text());
    return facts;
}

}  // namespace

std::vector<std::uint8_t> write_container(PlanContainer const& container) {
    BlobWriter body;
    body.number(static_cast<std::int64_t>(container.target));
    body.text(container.graph_json);
    write(container.facts, body);
    body.number(container.workspace_bytes);
    body.text(container.plan.engine);
    body.text(container.plan.bytes);
    std::string const bytes = body.take();
    BlobWriter header;
    header.number(kFormat);
    header.number(static_cast<std::int64_t>(checksum(bytes)));
    std::string const all = std::string(kMagic) + header.take() + bytes;
    return {all.begin(), all.end()};
}

Result<PlanContainer> read_container(std::vector<std::uint8_t> const& bytes) {
    std::string_view const all(reinterpret_cast<char const*>(bytes.data()), bytes.size());
    if (!all.starts_with(kMagic.substr(0, all.size()))) {
        return invalid("they do not start with '" + std::string(kMagic) + "'");
    }
    if (all.size() < kHeaderBytes) return invalid("they are cut off after " + std::to_string(all.size()) + " bytes");
    BlobReader header(all.substr(kMagic.size()));
    if (std::int64_t const format = header.number(); format != kFormat) {
        return wrong_format(format);
    }
    std::string_view const body = all.substr(kHeaderBytes);
    if (static_cast<std::uint64_t>(header.number()) != checksum(body)) return invalid("they were cut or changed");
    BlobReader reader(body);
    PlanContainer container;
    std::int64_t const target = reader.number();
    container.target = static_cast<Target::Kind>(target);
    container.graph_json = reader.text();
    container.facts = read_facts(reader);
    container.workspace_bytes = reader.number();
    container.plan.engine = reader.text();
    container.plan.bytes = reader.text();
    bool const is_target = target >= 0 && target <= static_cast<std::int64_t>(Target::Kind::STREAM);
    if (!reader.is_done() || !is_target || container.workspace_bytes < 0)
        return invalid("their parts do not fit together");
    return container;
}

}  // namespace cudnn_frontend::plan
