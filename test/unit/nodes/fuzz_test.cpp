// Random graphs, most of them broken in several ways: validation reports faults and never crashes; graphs that it
// accepts can be planned. Run it with the sanitizers.
#include "api/graph/graph_impl.h"
#include "graphs.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <random>

using namespace test;

namespace {

class Fuzzer {
   public:
    explicit Fuzzer(std::uint64_t seed) : random_(seed) {}

    GraphSpec graph() {
        GraphSpec spec;
        spec.io_data_type = type();
        spec.intermediate_data_type = type();
        spec.compute_data_type = type();
        for (std::int64_t count = below(12) + 1; count > 0; --count) spec.tensors.push_back(tensor());
        auto const tensors = static_cast<std::int64_t>(spec.tensors.size());
        for (TensorSpec& each : spec.tensors) each.ragged_offset = chance(20) ? tensor_id(tensors) : kNoTensor;
        for (std::int64_t count = below(4); count > 0; --count) spec.nodes.push_back(node(tensors));
        return spec;
    }

    // A valid graph with a few fields or ports replaced by anything: nearer to the edge of valid graphs.
    GraphSpec nearly_valid() {
        GraphSpec spec = valid();
        auto const tensors = static_cast<std::int64_t>(spec.tensors.size());
        for (std::int64_t count = below(3); count > 0; --count) {
            Node& changed = spec.nodes[static_cast<std::size_t>(below(static_cast<std::int64_t>(spec.nodes.size())))];
            TensorSpec& tensor = spec.tensors[static_cast<std::size_t>(below(tensors))];
            switch (below(3)) {
                case 0: change(tensor_fields(), &tensor); break;
                case 1: change(schema_of(changed.kind()).fields, fields_object(changed)); break;
                default: changed.ports[static_cast<std::size_t>(any_port(changed))] = tensor_id(tensors);
            }
        }
        return spec;
    }

   private:
    std::int64_t below(std::int64_t limit) {
        return std::uniform_int_distribution<std::int64_t>(0, limit - 1)(random_);
    }
    bool chance(std::int64_t one_in) { return below(one_in) == 0; }
    std::int64_t any_port(Node const& node) { return below(static_cast<std::int64_t>(node.ports.size())); }
    TensorId tensor_id(std::int64_t count) { return static_cast<TensorId>(below(count + 1) - 1); }
    DataType_t type() { return chance(3) ? static_cast<DataType_t>(below(25)) : DataType_t::FLOAT; }

    GraphSpec valid() {
        switch (below(9)) {
            case 0: return attention_graph(NodeKind::SdpaForward);
            case 1: return attention_graph(NodeKind::SdpaBackward);
            case 2: return pointwise_graph(PointwiseMode_t::ADD);
            case 3: return matmul_graph();
            case 4: return reduction_graph();
            case 5: return slice_graph();
            case 6: return reshape_graph();
            case 7: return transpose_graph();
            default: return chain_graph();
        }
    }

    std::int64_t integer() {
        constexpr std::int64_t kEdges[] = {0,
                                           1,
                                           -1,
                                           1 << 30,
                                           (std::int64_t{1} << 31) + 1,
                                           std::int64_t{1} << 61,
                                           std::numeric_limits<std::int64_t>::max(),
                                           std::numeric_limits<std::int64_t>::min()};
        return chance(3) ? kEdges[below(std::size(kEdges))] : below(9);
    }
    double number() {
        constexpr double kEdges[] = {0.0,
                                     -0.0,
                                     1.0,
                                     -1.0,
                                     0.5,
                                     1e-40,
                                     3e38,
                                     std::numeric_limits<double>::infinity(),
                                     -std::numeric_limits<double>::infinity(),
                                     std::numeric_limits<double>::quiet_NaN()};
        return kEdges[below(std::size(kEdges))];
    }
    Dims dims() {
        Dims list(static_cast<std::size_t>(chance(4) ? below(11) : 4));
        for (std::int64_t& size : list) size = integer();
        return list;
    }
    FieldValue value(Field const& field) {
        if (field.nullable && chance(2)) return {};
        switch (field.type) {
            case FieldType::Bool: return chance(2);
            case FieldType::Integer: return integer();
            case FieldType::Number: return number();
            case FieldType::Enum: return below(static_cast<std::int64_t>(field.enumerators().size()) + 3);
            case FieldType::Text: return std::string(static_cast<std::size_t>(below(3)), 'x');
            case FieldType::IntegerList: return dims();
            case FieldType::BoolList: return std::vector<bool>(static_cast<std::size_t>(below(5)), chance(2));
            default: return detail::Scalar{type(), static_cast<std::uint64_t>(integer())};
        }
    }
    void change(std::span<Field const> fields, void* object) {
        Field const& field = fields[static_cast<std::size_t>(below(static_cast<std::int64_t>(fields.size())))];
        field.set(object, value(field));
    }
    TensorSpec tensor() {
        TensorSpec spec;
        for (Field const& field : tensor_fields()) {
            if (!chance(4)) field.set(&spec, value(field));
        }
        spec.is_foreign = chance(30);
        return spec;
    }
    Node node(std::int64_t tensors) {
        auto const schemas = all_schemas();
        Node made =
            make_node(schemas[static_cast<std::size_t>(below(static_cast<std::int64_t>(schemas.size())))]->kind);
        for (Field const& field : schema_of(made.kind()).fields) field.set(fields_object(made), value(field));
        for (TensorId& port : made.ports) port = chance(3) ? kNoTensor : tensor_id(tensors);
        return made;
    }

    std::mt19937_64 random_;
};

// Validation's guarantees for a graph that it accepts.
void check_complete(GraphSpec const& spec) {
    for (Node const& node : spec.nodes) {
        for (TensorId const id : node.ports) {
            if (id == kNoTensor) continue;
            TensorSpec const& tensor = spec.tensors[static_cast<std::size_t>(id)];
            REQUIRE(tensor.uid.has_value());
            REQUIRE(tensor.data_type != DataType_t::NOT_SET);
            REQUIRE_FALSE(tensor.dim.empty());
            REQUIRE(tensor.stride.size() == tensor.dim.size());
        }
    }
}

void check_findings(Report const& report) {
    for (Finding const& finding : report.findings()) {
        REQUIRE(finding.code != error_code_t::OK);
        for (std::string const* words : {&finding.where.rule, &finding.found, &finding.needed, &finding.fix}) {
            REQUIRE_FALSE(words->empty());
        }
    }
}

// Whether it is small enough to plan in little memory.
bool is_small(GraphSpec const& spec) {
    return std::ranges::all_of(spec.tensors, [](TensorSpec const& tensor) {
        return core::volume(tensor.dim).value_or(-1) >= 0 && *core::volume(tensor.dim) <= 1 << 16;
    });
}

// A valid graph is planned, or refused as something that the target cannot run: never as a faulty one.
bool can_be_planned(GraphSpec const& spec, Target const& target) {
    graph::Graph graph;
    detail::Graph_access::assign(graph, spec);
    auto const status = graph.build(target);
    INFO(status.err_msg);
    REQUIRE((status.is_good() || status == error_code_t::GRAPH_NOT_SUPPORTED));
    return status.is_good();
}

std::uint64_t rounds() {
    char const* const wanted = std::getenv("SDPA_FUZZ_ROUNDS");
    return wanted == nullptr ? 4000 : std::strtoull(wanted, nullptr, 10);
}

}  // namespace

TEST_CASE("validation of random graphs reports and never crashes") {
    std::uint64_t refused = 0;
    for (std::uint64_t seed = 0; seed < rounds(); ++seed) {
        CAPTURE(seed);
        Validation const validation = validate(Fuzzer(seed).graph());
        REQUIRE(validation.graph.has_value() == validation.report.ok());
        check_findings(validation.report);
        if (!validation.graph) {
            ++refused;
            continue;
        }
        check_complete(validation.graph->spec());
        if (!is_small(validation.graph->spec())) continue;
        for (Target const& target : {Target::reference(), Target::cpu(2)}) {
            can_be_planned(validation.graph->spec(), target);
        }
    }
    CHECK(refused > rounds() / 2);
}

TEST_CASE("validation of nearly valid graphs accepts only complete ones, which can be planned") {
    std::uint64_t accepted = 0, planned = 0;
    for (std::uint64_t seed = 0; seed < rounds(); ++seed) {
        CAPTURE(seed);
        Validation const validation = validate(Fuzzer(seed).nearly_valid());
        REQUIRE(validation.graph.has_value() == validation.report.ok());
        check_findings(validation.report);
        if (!validation.graph) continue;
        ++accepted;
        check_complete(validation.graph->spec());
        if (!is_small(validation.graph->spec())) continue;
        planned += can_be_planned(validation.graph->spec(), Target::reference());
        planned += can_be_planned(validation.graph->spec(), Target::cpu(2));
    }
    CHECK(planned > accepted);
    CHECK(accepted > rounds() / 10);
    CHECK(accepted < rounds() * 9 / 10);
}
