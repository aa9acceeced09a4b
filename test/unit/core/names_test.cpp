#include "core/names.h"

#include "support/catch.h"

#include <set>
#include <string>

using namespace cudnn_frontend;

namespace {

// The last enumerator and its name fix the length of the table and that no entry is missing.
template <class Enum>
void check_table(Enum last, char const* last_name) {
    auto const names = core::names_of<Enum>();
    CAPTURE(last_name);
    REQUIRE(names.size() == static_cast<std::size_t>(last) + 1);
    CHECK(std::string(core::name_of(last)) == last_name);
    std::set<std::string> distinct;
    for (std::size_t i = 0; i < names.size(); ++i) {
        distinct.insert(names[i]);
        CHECK(core::from_name<Enum>(names[i]) == static_cast<Enum>(i));
    }
    CHECK(distinct.size() == names.size());
    CHECK_FALSE(core::from_name<Enum>("no such name"));
    CHECK(std::string(core::name_of(static_cast<Enum>(1000))) == "?");
    CHECK(core::is_known(last));
    CHECK_FALSE(core::is_known(static_cast<Enum>(static_cast<int>(last) + 1)));
    CHECK_FALSE(core::is_known(static_cast<Enum>(-1)));
}

}  // namespace

TEST_CASE("each enumeration's table ends with its last enumerator and reads back every name") {
    check_table(error_code_t::NVRTC_COMPILATION_FAILED, "NVRTC_COMPILATION_FAILED");
    check_table(DataType_t::COMPLEX_FP64, "COMPLEX_FP64");
    check_table(HeurMode_t::OPENSOURCE, "OPENSOURCE");
    check_table(BuildPlanPolicy_t::ALL, "ALL");
    check_table(DiagonalAlignment_t::BOTTOM_RIGHT, "BOTTOM_RIGHT");
    check_table(AttentionImplementation_t::UNIFIED, "UNIFIED");
    check_table(Rewrite_t::NEIGHBORHOOD_BAND, "NEIGHBORHOOD_BAND");
    check_table(RewritePolicy_t::OFF, "OFF");
    check_table(ShapePolicy_t::ALL_SHAPES, "ALL_SHAPES");
    check_table(TensorReordering_t::F8_128x4, "F8_128x4");
    check_table(BehaviorNote_t::CUBLASLT_DEPENDENCY, "CUBLASLT_DEPENDENCY");
    check_table(NumericalNote_t::STRICT_NAN_PROP, "STRICT_NAN_PROP");
    check_table(ReductionMode_t::MUL_NO_ZEROS, "MUL_NO_ZEROS");
    check_table(RngDistribution_t::NORMAL, "NORMAL");
    check_table(ReshapeMode_t::LOGICAL, "LOGICAL");
    check_table(PointwiseMode_t::RECIPROCAL, "RECIPROCAL");
    check_table(KnobType_t::OUTPUT_TMA_ENABLE, "OUTPUT_TMA_ENABLE");
}

TEST_CASE("names in the middle of the long tables stand at their enumerators") {
    CHECK(std::string(core::name_of(DataType_t::BFLOAT16)) == "BFLOAT16");
    CHECK(std::string(core::name_of(PointwiseMode_t::GEN_INDEX)) == "GEN_INDEX");
    CHECK(std::string(core::name_of(PointwiseMode_t::CMP_GE)) == "CMP_GE");
    CHECK(std::string(core::name_of(KnobType_t::KERNEL_CFG)) == "KERNEL_CFG");
    CHECK(std::string(core::name_of(KnobType_t::SWAP_AB)) == "SWAP_AB");
}

TEST_CASE("programs get the names of enumerators", "[core]") {
    CHECK(std::string(cudnn_frontend::to_string(cudnn_frontend::DataType_t::BFLOAT16)) == "BFLOAT16");
    CHECK(std::string(cudnn_frontend::to_string(cudnn_frontend::HeurMode_t::FALLBACK)) == "FALLBACK");
    CHECK(std::string(to_string(cudnn_frontend::BehaviorNote_t::RUNTIME_COMPILATION)) == "RUNTIME_COMPILATION");
    CHECK(std::string(to_string(static_cast<cudnn_frontend::KnobType_t>(-1))) == "?");
}
