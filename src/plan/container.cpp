#include "plan/container.h"

#include "plan/blob.h"

namespace cudnn_frontend::plan {
namespace {

constexpr std::string_view kMagic = "sdpaplan";
// 1 had a plan's knobs only in its engine's name, 2 no engine for backends to know their own plans by.
constexpr std::int64_t kFormat = 3;
constexpr std::size_t kHeaderBytes = kMagic.size() + 16;  // magic, format, checksum of the rest

error_t invalid(std::string const& found) {
    return {error_code_t::UNSUPPORTED_GRAPH_FORMAT, "the bytes are no stored plan that this library can read: " +
                                                        found + "; store the plan again with serialize()"};
}

error_t wrong_format(std::int64_t format) {
    std::string const whose = format >= 1 && format < kFormat ? ", which an older version wrote" : "";
    return invalid("they have the format " + std::to_string(format) + whose + "; needed is " + std::to_string(kFormat));
}

}  // namespace

std::vector<std::uint8_t> write_container(PlanContainer const& container) {
    BlobWriter body;
    body.number(static_cast<std::int64_t>(container.target));
    body.text(container.graph_json);
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
    container.plan.engine = reader.text();
    container.plan.bytes = reader.text();
    bool const is_target = target >= 0 && target <= static_cast<std::int64_t>(Target::Kind::OFFLINE);
    if (!reader.is_done() || !is_target) return invalid("their parts do not fit together");
    return container;
}

}  // namespace cudnn_frontend::plan
