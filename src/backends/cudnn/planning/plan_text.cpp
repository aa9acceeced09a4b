#include "cudnn/planning/plan_text.h"

#include "plan/storage/blob.h"

#include <algorithm>

namespace cudnn_frontend::cudnn {
namespace {

void write_choice(plan::BlobWriter& writer, EngineChoice const& choice) {
    writer.number(choice.engine);
    writer.number(static_cast<std::int64_t>(choice.knobs.size()));
    for (KnobChoice const& knob : choice.knobs) {
        writer.number(knob.knob);
        writer.number(knob.value);
    }
}

// Whether the numbers can be those of an engine and of knobs.
bool read_choice(plan::BlobReader& reader, EngineChoice& choice) {
    constexpr std::int64_t kKnobs = 64;  // as many as the enumeration's type has room for
    choice.engine = reader.number();
    bool is_good = choice.engine >= 0;
    choice.knobs.resize(reader.count(16));
    for (KnobChoice& knob : choice.knobs) {
        std::int64_t const type = reader.number();
        bool const is_knob = type >= 0 && type < kKnobs;
        knob.knob = static_cast<cudnnBackendKnobType_t>(is_knob ? type : 0);
        knob.value = reader.number();
        is_good = is_good && is_knob;
    }
    return is_good;
}

void write_bindings(plan::BlobWriter& writer, Bindings const& bindings) {
    writer.number(bindings.scratch_bytes);
    writer.number(static_cast<std::int64_t>(bindings.tensors.size()));
    for (BoundTensor const& tensor : bindings.tensors) {
        writer.number(tensor.uid);
        writer.number(static_cast<std::int64_t>(tensor.source));
        writer.number(tensor.at);
    }
    writer.number(static_cast<std::int64_t>(bindings.numbers.size()));
    for (std::uint64_t const number : bindings.numbers) writer.number(static_cast<std::int64_t>(number));
    writer.number(static_cast<std::int64_t>(bindings.tables.size()));
    for (ConstantTable const& table : bindings.tables) {
        writer.text({reinterpret_cast<char const*>(table.bytes.data()), table.bytes.size()});
    }
}

void read_bindings(plan::BlobReader& reader, Bindings& bindings) {
    bindings.scratch_bytes = reader.number();
    bindings.tensors.resize(reader.count(24));
    for (BoundTensor& tensor : bindings.tensors) {
        tensor.uid = reader.number();
        tensor.source = static_cast<MemorySource>(reader.number());
        tensor.at = reader.number();
    }
    bindings.numbers.resize(reader.count(8));
    for (std::uint64_t& number : bindings.numbers) number = static_cast<std::uint64_t>(reader.number());
    bindings.tables.resize(reader.count(8));
    for (ConstantTable& table : bindings.tables) {
        std::string_view const bytes = reader.text();
        auto const* const first = reinterpret_cast<std::byte const*>(bytes.data());
        table.bytes.assign(first, first + bytes.size());
    }
}

// Whether everything that a binding refers to exists.
bool fits(BoundTensor const& tensor, Bindings const& bindings) {
    auto const is_below = [&](std::size_t end) { return tensor.at >= 0 && static_cast<std::size_t>(tensor.at) < end; };
    switch (tensor.source) {
        case MemorySource::Caller: return tensor.at >= 0;
        case MemorySource::Number: return is_below(bindings.numbers.size());
        case MemorySource::Table: return is_below(bindings.tables.size());
        case MemorySource::Workspace: return tensor.at >= 0 && tensor.at < bindings.scratch_bytes;
    }
    return false;
}

}  // namespace

std::string write_plan(CudnnStoredPlan const& plan) {
    plan::BlobWriter writer;
    writer.number(static_cast<std::int64_t>(plan.cudnn_version));
    write_choice(writer, plan.choice);
    writer.number(plan.dynamic_shapes);
    writer.text(plan.device);
    write_bindings(writer, plan.bindings);
    writer.text(plan.engine_plan);
    if (!plan.kernel.empty()) writer.text(plan.kernel);
    return writer.take();
}

Result<CudnnStoredPlan> read_plan(std::string_view text) {
    plan::BlobReader reader(text);
    CudnnStoredPlan plan;
    plan.cudnn_version = static_cast<std::size_t>(reader.number());
    bool is_good = read_choice(reader, plan.choice);
    plan.dynamic_shapes = reader.number() != 0;
    plan.device = reader.text();
    read_bindings(reader, plan.bindings);
    plan.engine_plan = reader.text();
    if (!reader.is_done()) plan.kernel = reader.text();
    is_good = is_good && reader.is_done() && plan.bindings.scratch_bytes >= 0;
    for (BoundTensor const& tensor : plan.bindings.tensors) is_good = is_good && fits(tensor, plan.bindings);
    if (is_good) return plan;
    return error_t(error_code_t::UNSUPPORTED_GRAPH_FORMAT, "the stored plan's parts do not fit together");
}

std::vector<std::string> kernels_in(std::string_view engine_plan) {
    constexpr std::string_view kMember = R"("kernelName":")";
    std::vector<std::string> kernels;
    for (std::size_t at = engine_plan.find(kMember); at != std::string_view::npos; at = engine_plan.find(kMember, at)) {
        at += kMember.size();
        std::string name(engine_plan.substr(at, engine_plan.substr(at).find('"')));
        if (std::ranges::find(kernels, name) == kernels.end()) kernels.push_back(std::move(name));
    }
    return kernels;
}

}  // namespace cudnn_frontend::cudnn
