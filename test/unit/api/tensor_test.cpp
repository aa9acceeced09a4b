#include <cudnn_frontend/graph.h>
#include <cudnn_frontend/pass_by_value.h>
#include <cudnn_frontend/tensor.h>

#include "support/catch.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

using namespace cudnn_frontend;
using graph::Tensor_attributes;

TEST_CASE("a tensor starts empty") {
    Tensor_attributes const tensor;
    CHECK(tensor.get_name().empty());
    CHECK(tensor.get_data_type() == DataType_t::NOT_SET);
    CHECK(tensor.get_dim().empty());
    CHECK(tensor.get_volume() == 0);
    CHECK_FALSE(tensor.get_is_virtual());
    CHECK_FALSE(tensor.get_is_pass_by_value());
    CHECK(tensor.get_alignment() == 16);
    CHECK(tensor.get_vector_count() == 1);
    CHECK(tensor.get_vector_dimension() == -1);
    CHECK(tensor.has_uid() == 0);
    CHECK(tensor.get_uid() == 0);
    CHECK(tensor.get_ragged_offset() == nullptr);
    CHECK_FALSE(tensor.get_pass_by_value().has_value());
}

TEST_CASE("every setter is read back by its getter") {
    auto const offset = std::make_shared<Tensor_attributes>();
    Tensor_attributes tensor;
    tensor.set_name("t")
        .set_data_type(DataType_t::BFLOAT16)
        .set_dim({2, 3})
        .set_stride({3, 1})
        .set_is_pass_by_value(true)
        .set_reordering_type(TensorReordering_t::F8_128x4)
        .set_alignment(32)
        .set_vector_count_and_dimension(4, 1)
        .set_uid(0)
        .set_ragged_offset(offset)
        .set_output(false);
    CHECK(tensor.get_name() == "t");
    CHECK(tensor.get_data_type() == DataType_t::BFLOAT16);
    CHECK(tensor.get_dim() == std::vector<std::int64_t>{2, 3});
    CHECK(tensor.get_stride() == std::vector<std::int64_t>{3, 1});
    CHECK(tensor.get_volume() == 6);
    CHECK(tensor.get_is_pass_by_value());
    CHECK(tensor.get_reordering_type() == TensorReordering_t::F8_128x4);
    CHECK(tensor.get_alignment() == 32);
    CHECK(tensor.get_vector_count() == 4);
    CHECK(tensor.get_vector_dimension() == 1);
    CHECK(tensor.has_uid() == 1);
    CHECK(tensor.get_uid() == 0);
    CHECK(tensor.get_ragged_offset() == offset);
    CHECK(tensor.get_is_virtual());
    CHECK_FALSE(tensor.set_output(true).get_is_virtual());
    CHECK(tensor.clear_uid().has_uid() == 0);
}

TEST_CASE("a scalar embeds its value and type") {
    auto const check = [](Tensor_attributes const& tensor, DataType_t type, graph::pass_by_values_t const& value) {
        CHECK(tensor.get_data_type() == type);
        CHECK(tensor.get_is_pass_by_value());
        CHECK(tensor.get_dim() == std::vector<std::int64_t>{1});
        CHECK(tensor.get_stride() == std::vector<std::int64_t>{1});
        REQUIRE(tensor.get_pass_by_value().has_value());
        CHECK(tensor.get_pass_by_value()->index() == value.index());
    };
    check(0.5f, DataType_t::FLOAT, 0.5f);
    check(0.5, DataType_t::DOUBLE, 0.5);
    check(std::int32_t{7}, DataType_t::INT32, std::int32_t{7});
    check(std::int64_t{7}, DataType_t::INT64, std::int64_t{7});
    check(float16(0.5f), DataType_t::HALF, float16(0.5f));
    check(bfloat16(0.5f), DataType_t::BFLOAT16, bfloat16(0.5f));
    check(true, DataType_t::INT32, std::int32_t{1});
    CHECK(std::get<float>(*Tensor_attributes(0.25f).get_pass_by_value()) == 0.25f);
    CHECK(std::get<std::int64_t>(*Tensor_attributes(std::int64_t{1} << 40).get_pass_by_value()) == std::int64_t{1}
                                                                                                       << 40);
}

TEST_CASE("a compile time constant is no run time parameter until it is made one") {
    Tensor_attributes tensor(2.0f, graph::ScalarType::COMPILE_TIME_CONST);
    CHECK(tensor.get_has_compile_time_constant());
    CHECK_FALSE(tensor.get_is_pass_by_value());
    CHECK_FALSE(tensor.get_pass_by_value().has_value());
    CHECK(std::get<float>(*tensor.get_compile_time_constant()) == 2.0f);
    tensor.set_as_runtime_parameter();
    CHECK(tensor.get_is_pass_by_value());
    CHECK_FALSE(tensor.get_has_compile_time_constant());
    CHECK(std::get<float>(*tensor.get_pass_by_value()) == 2.0f);
    CHECK(std::get<double>(*Tensor_attributes().set_compile_time_constant(3.0).get_compile_time_constant()) == 3.0);
}

TEST_CASE("a volume that passes int64 is -1, not a wrong number") {
    std::int64_t const large = std::int64_t{1} << 40;
    CHECK(Tensor_attributes().set_dim({large, large}).get_volume() == -1);
}

TEST_CASE("a tensor validates by itself, without a type") {
    CHECK(Tensor_attributes().set_dim({2, 2}).set_stride({2, 1}).validate().is_good());
    auto const error = Tensor_attributes().set_name("t").set_dim({2, 2}).set_stride({1}).validate();
    CHECK(error.is_bad());
    CHECK(error.err_msg.find("'t'") != std::string::npos);
}

namespace {

using Tensor_ptr = std::shared_ptr<Tensor_attributes>;

std::vector<Tensor_ptr> named_tensors(int count) {
    std::vector<Tensor_ptr> tensors;
    for (int i = 0; i < count; ++i) tensors.push_back(std::make_shared<Tensor_attributes>());
    for (int i = 0; i < count; ++i) tensors[static_cast<std::size_t>(i)]->set_name("t" + std::to_string(i));
    return tensors;
}

// Whether the tensors are freed once their handles are gone.
bool all_go(std::vector<Tensor_ptr> tensors) {
    std::vector<std::weak_ptr<Tensor_attributes>> seen(tensors.begin(), tensors.end());
    tensors.clear();
    return std::all_of(seen.begin(), seen.end(), [](auto const& tensor) { return tensor.expired(); });
}

}  // namespace

TEST_CASE("tensors whose ragged offsets form a ring do not keep themselves alive") {
    for (int const count : {1, 2, 5}) {
        CAPTURE(count);
        auto tensors = named_tensors(count);
        for (std::size_t i = 0; i < tensors.size(); ++i)
            tensors[i]->set_ragged_offset(tensors[(i + 1) % tensors.size()]);
        // The offset that would close a cycle is kept as a copy with an offset of its own, which a rule of the graph
        // refuses.
        auto const offset = tensors.back()->get_ragged_offset();
        REQUIRE(offset);
        CHECK(offset != tensors.front());
        CHECK(offset->get_name() == "t0");
        CHECK(offset->get_ragged_offset() != nullptr);
        CHECK(all_go(std::move(tensors)));
    }
}

TEST_CASE("a ring of ragged offsets does not close by copying, moving or asking for a tensor either") {
    auto copied = named_tensors(2), moved = named_tensors(2);
    copied[1]->set_ragged_offset(copied[0]);
    *copied[0] = *copied[1];
    CHECK(copied[0]->get_ragged_offset() != copied[0]);
    CHECK(all_go(std::move(copied)));
    moved[1]->set_ragged_offset(moved[0]);
    *moved[0] = std::move(*moved[1]);
    CHECK(moved[0]->get_ragged_offset() != moved[0]);
    CHECK(all_go(std::move(moved)));
    graph::Graph graph;
    auto asked = named_tensors(1);
    auto const q = graph.tensor(Tensor_attributes().set_uid(7).set_ragged_offset(asked[0]));
    REQUIRE(graph.query_tensor_attributes_of_uid(7, *asked[0]).is_good());
    CHECK(asked[0]->get_uid() == 7);
    q->set_ragged_offset(nullptr);
    CHECK(all_go(std::move(asked)));
}

TEST_CASE("an offset that is set in place of one that closed a ring is kept") {
    auto const tensors = named_tensors(2);
    tensors[0]->set_ragged_offset(tensors[0]);
    tensors[0]->set_ragged_offset(tensors[1]);
    CHECK(tensors[0]->get_ragged_offset() == tensors[1]);
    CHECK(tensors[1]->get_ragged_offset() == nullptr);
}

TEST_CASE("a long chain of ragged offsets is destroyed without a deep stack") {
    auto tensors = named_tensors(200'000);
    for (std::size_t i = 0; i + 1 < tensors.size(); ++i) tensors[i]->set_ragged_offset(tensors[i + 1]);
    Tensor_ptr first = tensors.front();
    std::weak_ptr<Tensor_attributes> const last = tensors.back();
    tensors.clear();
    CHECK_FALSE(last.expired());
    first.reset();
    CHECK(last.expired());
}
