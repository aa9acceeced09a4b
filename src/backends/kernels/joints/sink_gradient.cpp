#include "kernels/joints/sink_gradient.h"

#include "core/data_type.h"
#include "core/findings.h"
#include "core/names.h"
#include "kernels/launch/code_kernel.h"

namespace cudnn_frontend::kernels {
namespace {

struct CheckedOperand {
    char const* name;
    Operand const* operand;
    core::Dims dims;  // needed
};

std::vector<CheckedOperand> operands_of(SinkGradientProblem const& problem) {
    core::Dims const& dims = problem.o.operand.dims;
    core::Dims const rows{dims[0], dims[1], dims[2], 1}, heads{1, dims[1], 1, 1};
    std::vector<CheckedOperand> all{{"O", &problem.o.operand, dims},
                                    {"dO", &problem.d_o.operand, dims},
                                    {"Stats", &problem.stats.operand, rows},
                                    {"the sink", &problem.sink, heads},
                                    {"the gradient", &problem.gradient, heads}};
    if (problem.lengths) all.push_back({"lengths", &*problem.lengths, {dims[0], 1, 1, 1}});
    return all;
}

std::vector<SinkGradientProblem::RaggedOffsets> offsets_of(SinkGradientProblem const& problem) {
    std::vector<SinkGradientProblem::RaggedOffsets> all;
    for (auto const* const rows : {&problem.o, &problem.d_o, &problem.stats}) {
        if (rows->offsets) all.push_back(*rows->offsets);
    }
    return all;
}

error_t wrong(std::string const& operand, std::string const& found, std::string const& needed) {
    return core::error_at("sink_gradient: " + operand, error_code_t::INVALID_VALUE, found, needed);
}

error_t check_type(CheckedOperand const& named, std::size_t place) {
    constexpr std::size_t kMatrices = 2, kLengths = 5;
    DataType_t const type = named.operand->type;
    bool const is_half = type == DataType_t::HALF || type == DataType_t::BFLOAT16;
    bool const is_good =
        place == kLengths ? type == DataType_t::INT32 : type == DataType_t::FLOAT || (place < kMatrices && is_half);
    if (is_good) return {};
    return wrong(named.name, std::string("type ") + core::name_of(type),
                 place == kLengths   ? "INT32"
                 : place < kMatrices ? "BFLOAT16, HALF or FLOAT"
                                     : "FLOAT");
}

error_t check(SinkGradientProblem const& problem) {
    if (problem.o.operand.dims.size() != 4) {
        return wrong("O", "dims " + core::to_string(problem.o.operand.dims), "batches, heads, rows and columns");
    }
    std::vector<CheckedOperand> const all = operands_of(problem);
    for (std::size_t i = 0; i < all.size(); ++i) {
        SDPA_GRAPH_TRY(check_type(all[i], i));
        Operand const& operand = *all[i].operand;
        if (operand.dims != all[i].dims) {
            return wrong(all[i].name, "dims " + core::to_string(operand.dims), core::to_string(all[i].dims));
        }
        if (operand.strides.size() == operand.dims.size()) continue;
        return wrong(all[i].name, "strides " + core::to_string(operand.strides), "one for each dim");
    }
    for (auto const& [type, multiplier] : offsets_of(problem)) {
        if (type == DataType_t::INT32 || type == DataType_t::INT64) continue;
        return wrong("a ragged offset", std::string("type ") + core::name_of(type), "INT32 or INT64");
    }
    return {};
}

RowsAccess access_of(SinkGradientProblem::RowsWithOffsets const& rows) {
    core::Dims const& strides = rows.operand.strides;
    RowsAccess access{nullptr, nullptr, 0, strides[0], strides[1], strides[2], strides[3]};
    if (!rows.offsets) return access;
    access.offset_bytes = static_cast<int>(core::size_of(rows.offsets->type));
    access.batch = rows.offsets->multiplier;
    return access;
}

CodeName name_of(SinkGradientProblem const& problem, DeviceFacts const& device) {
    return {"sink_gradient",
            {"sink_gradient"},
            {std::string("X=") + element_name(problem.o.operand.type),
             std::string("Y=") + element_name(problem.d_o.operand.type)},
            {device.compute_capability}};
}

std::vector<Parameter> parameters_of(SinkGradientProblem const& problem) {
    std::vector<Parameter> parameters;
    for (CheckedOperand const& named : operands_of(problem)) {
        parameters.push_back({named.name, static_cast<std::uintptr_t>(core::size_of(named.operand->type))});
    }
    for (auto const& [type, multiplier] : offsets_of(problem)) {
        parameters.push_back({"ragged offsets", static_cast<std::uintptr_t>(core::size_of(type))});
    }
    return parameters;
}

class SinkGradientKernel final : public CodeKernel<SinkGradientArguments> {
   public:
    SinkGradientKernel(SinkGradientProblem const& problem, std::shared_ptr<Code const> code)
        : CodeKernel(std::move(code), parameters_of(problem)), problem_(problem), arguments_(arguments_of(problem)) {}

   private:
    Result<Bound> bind(Pointers pointers) const override {
        auto const function = code()->function(0);
        if (function.is_bad()) return function.error();
        auto const heads = static_cast<unsigned>(problem_.o.operand.dims[1]);
        Bound bound{function.value(), heads, 32 * kSinkWarps, kSinkWarps * sizeof(double), arguments_};
        kernels::bind(bound.arguments, problem_, pointers);
        return bound;
    }

    SinkGradientProblem problem_;
    SinkGradientArguments arguments_;
};

}  // namespace

SinkGradientArguments arguments_of(SinkGradientProblem const& problem) {
    core::Dims const& dims = problem.o.operand.dims;
    SinkGradientArguments arguments{};
    arguments.o = access_of(problem.o);
    arguments.d_o = access_of(problem.d_o);
    arguments.stats = access_of(problem.stats);
    arguments.sink_head = problem.sink.strides[1];
    arguments.gradient_head = problem.gradient.strides[1];
    arguments.length_batch = problem.lengths ? problem.lengths->strides[0] : 0;
    arguments.batches = dims[0];
    arguments.rows = dims[2];
    arguments.columns = static_cast<int>(dims[3]);
    return arguments;
}

void bind(SinkGradientArguments& arguments, SinkGradientProblem const& problem, Pointers pointers) {
    std::size_t next = 0;
    arguments.o.start = pointers[next++];
    arguments.d_o.start = pointers[next++];
    arguments.stats.start = pointers[next++];
    arguments.sink = pointers[next++];
    arguments.gradient = pointers[next++];
    if (problem.lengths) arguments.lengths = pointers[next++];
    if (problem.o.offsets) arguments.o.offsets = pointers[next++];
    if (problem.d_o.offsets) arguments.d_o.offsets = pointers[next++];
    if (problem.stats.offsets) arguments.stats.offsets = pointers[next++];
}

Result<KernelPointer> compile_sink_gradient(SinkGradientProblem const& problem, DeviceFacts const& device) {
    SDPA_GRAPH_TRY(check_device("sink_gradient", device));
    SDPA_GRAPH_TRY(check(problem));
    auto code = find_code(name_of(problem, device));
    if (code.is_bad()) return code.error();
    return KernelPointer(std::make_shared<SinkGradientKernel>(problem, std::move(code).value()));
}

Result<KernelPointer> load_sink_gradient(SinkGradientProblem const& problem, DeviceFacts const& device,
                                         std::string_view stored) {
    SDPA_GRAPH_TRY(check(problem));
    auto code = stored_code(name_of(problem, device), stored);
    if (code.is_bad()) return code.error();
    return KernelPointer(std::make_shared<SinkGradientKernel>(problem, std::move(code).value()));
}

}  // namespace cudnn_frontend::kernels
