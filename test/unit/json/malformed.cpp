#include "malformed.h"

#include "nodes/schema/schema.h"

namespace cudnn_frontend::test {
namespace {

constexpr char const* kDataTypes =
    "one of NOT_SET, FLOAT, DOUBLE, HALF, INT8, INT32, INT8x4, UINT8, UINT8x4, INT8x32, BFLOAT16, INT64, BOOLEAN, "
    "FP8_E4M3, FP8_E5M2, FAST_FLOAT_FOR_FP8, FP8_E8M0, FP4_E2M1, INT4, COMPLEX_FP32, COMPLEX_FP64";
constexpr char const* kMatmulFields = "expected padding_value";
constexpr char const* kScalar = R"(expected a scalar such as {"type": "FLOAT", "value": 0.5}, or null)";
constexpr char const* kTensorMembers =
    "one of name, uid, data_type, dim, stride, is_virtual, is_by_value, value, is_constant, alignment, reordering, "
    "vector_count, vector_dimension, ragged_offset_multiplier, ragged_offset";

std::string document(std::string const& tensors, std::string const& nodes, std::string const& more = "") {
    return R"({"format": "sdpa-graph", "version": 1, )" + more + R"("tensors": )" + tensors + R"(, "nodes": )" + nodes +
           "}";
}
std::string tensor(std::string const& members) { return document(R"({"t0": {)" + members + "}}", "[]"); }
std::string node(std::string const& members) { return document(R"({"t0": {}, "t1": {}})", "[{" + members + "}]"); }
std::string context(std::string const& value) { return document("{}", "[]", "\"context\": " + value + ", "); }
std::string matmul(std::string const& members) { return node(R"("tag": "MATMUL", )" + members); }
std::string forward(std::string const& fields) { return node(R"("tag": "SDPA_FORWARD", "fields": {)" + fields + "}"); }

// "expected one of a, b"; name_of(row) returns the name of each row.
template <class Rows, class NameOf>
std::string expected_one_of(Rows const& rows, NameOf const& name_of) {
    std::string text = "expected one of ";
    for (auto const& row : rows) text += (text.ends_with("of ") ? "" : ", ") + std::string(name_of(row));
    return text;
}
std::string expected_tags() {
    return expected_one_of(nodes::all_schemas(), [](nodes::NodeSchema const* schema) { return schema->tag; });
}
std::string expected_fields(nodes::NodeSchema const& schema) {
    return expected_one_of(schema.fields, [](nodes::Field const& field) { return field.name; });
}

std::string line(std::string const& where, std::string const& found, std::string const& rest) {
    return where + ": found " + found + "; " + rest;
}

std::vector<Malformed> not_json() {
    auto const row = [](std::string text, std::string error) {
        return Malformed{std::move(text), std::move(error), Schema::CannotSay};
    };
    std::string const good = document("{}", "[]");
    return {
        row("", "line 1, column 1: found no text; expected JSON text"),
        row(" \n\n ", "line 3, column 2: found no text; expected JSON text"),
        row("{", "line 1, column 2: found unexpected end of input"),
        row("nul", "line 1, column 4: found invalid literal"),
        row("{\n  \"format\" \"sdpa-graph\"}", "line 2, column 23"),
        row("{\"tensors\": {\"t0\": {\"dim\": [1, 2,]}}}",
            "line 1, column 34 (in /tensors/t0/dim): found unexpected ']'"),
        row("{\"a\": 01}", "line 1, column 8"),
        row("{\"a\": 1e999}", "found number overflow"),
        row("{\"a\": NaN}", "line 1, column 7"),
        row("{\"a\": \"\n\"}", "control character U+000A"),
        row("{\"a\": \"\\x\"}", "forbidden character after backslash"),
        row("{\"a\": \"\\ud800\"}", "surrogate"),
        row("{\"a\": \"\xff\"}", "line 1, column 8: found invalid string: ill-formed UTF-8 byte"),
        row("{\"a\": \"\xc0\xaf\"}", "ill-formed UTF-8 byte"),
        row("{\"a\": \"\xed\xa0\x80\"}", "ill-formed UTF-8 byte"),
        row("{'a': 1}", "line 1, column 2"),
        row("{\"a\": 1} // note", "line 1, column 10"),
        row(good + " {}", "found unexpected '{'"),
        row(good + "\n]", "line 2, column 1: found unexpected ']'"),
        row(good + std::string("\n\0]", 3), "line 2, column 1: found a zero byte; expected JSON text"),
        row(R"({"format": "sdpa-graph", "format": "sdpa-graph"})",
            "/format: found the member twice; expected each name"),
        row(document(R"({"t0": {}, "t0": {}})", "[]"), "/tensors/t0: found the member twice"),
        row(tensor(R"("uid": 1, "dim": [], "uid": 1)"), "/tensors/t0/uid: found the member twice"),
        row(document(R"({"a/b~c": {}, "a/b~c": {}})", "[]"), "/tensors/a~1b~0c: found the member twice"),
    };
}

std::vector<Malformed> faulty_documents() {
    return {
        {"[]", line("the document", "an array", "expected an object")},
        {"7", line("the document", "7", "expected an object")},
        {"\"sdpa-graph\"", line("the document", "\"sdpa-graph\"", "expected an object")},
        {"{}", line("the document", R"(no member "format")", R"(expected "format": "sdpa-graph")")},
        {R"({"format": "sdpa-graph"})",
         line("the document", R"(no member "version")", R"(expected "version": 1 or 2)")},
        {R"({"format": "other"})", line("/format", "\"other\"", "expected \"sdpa-graph\"")},
        {R"({"format": 1})", line("/format", "1", "expected \"sdpa-graph\"")},
        {R"({"format": "sdpa-graph", "version": 3})", line("/version", "3", "expected 1 or 2")},
        {R"({"format": "sdpa-graph", "version": "1"})", line("/version", "\"1\"", "expected 1 or 2")},
        {R"({"format": "sdpa-graph", "version": 1.0})", line("/version", "1.0", "expected 1 or 2"), Schema::CannotSay},
        {R"({"format": "sdpa-graph", "version": 1, "nodes": []})",
         line("the document", R"(no member "tensors")", R"(expected "tensors": {...})")},
        {R"({"format": "sdpa-graph", "version": 1, "tensors": {}})",
         line("the document", R"(no member "nodes")", R"(expected "nodes": [...])")},
        {document("{}", "[]", R"("node": 1, )"),
         line("/node", R"(the unknown member "node")",
              R"(expected one of format, version, context, tensors, nodes. Try: "nodes")")},
        {document("[]", "[]"), line("/tensors", "an array", "expected an object")},
        {document("{}", "{}"), line("/nodes", "an object", "expected a list of nodes")},
        {context("null"), line("/context", "null", "expected an object")},
        {context(R"({"name": 3})"), line("/context/name", "3", "expected a string")},
        {context(R"({"io_type": "HALF"})"),
         line("/context/io_type", R"(the unknown member "io_type")",
              R"(expected one of name, io_data_type, intermediate_data_type, compute_data_type)")},
        {context(R"({"io_data_type": "half"})"), line("/context/io_data_type", R"(the unknown name "half")",
                                                      std::string("expected ") + kDataTypes + ". Try: \"HALF\"")},
        {context(R"({"io_data_type": 3})"), line("/context/io_data_type", "3", "expected a name as a string")},
    };
}

std::vector<Malformed> faulty_tensors() {
    return {
        {document(R"({"q": {}})", "[]"),
         line("/tensors/q", R"(the tensor id "q")", "expected the ids t0 to t0, one for each of 1 tensors")},
        {document(R"({"t01": {}, "t0": {}})", "[]"),
         line("/tensors/t01", R"(the tensor id "t01")", "expected the ids t0 to t1")},
        {document(R"({"t0": {}, "t2": {}})", "[]"),
         line("/tensors/t2", R"(the tensor id "t2")", "expected the ids t0 to t1"), Schema::CannotSay},
        {document(R"({"t99999999999999999999": {}})", "[]"),
         line("/tensors/t99999999999999999999", R"(the tensor id "t99999999999999999999")", "expected"),
         Schema::CannotSay},
        {document(R"({"": {}})", "[]"), line("/tensors/", R"(the tensor id "")", "expected the ids t0 to t0")},
        {document(R"({"t0": []})", "[]"), line("/tensors/t0", "an array", "expected an object")},
        {tensor(R"("strides": [1])"), line("/tensors/t0/strides", R"(the unknown member "strides")",
                                           std::string("expected ") + kTensorMembers + ". Try: \"stride\"")},
        {tensor(R"("is_foreign": true)"),
         line("/tensors/t0/is_foreign", R"(the unknown member "is_foreign")", "expected")},
        {tensor(R"("is_virtual": 1)"), line("/tensors/t0/is_virtual", "1", "expected true or false")},
        {tensor(R"("is_virtual": null)"), line("/tensors/t0/is_virtual", "null", "expected true or false")},
        {tensor(R"("uid": "1")"), line("/tensors/t0/uid", "\"1\"", "expected an integer of 64 bits, or null")},
        {tensor(R"("uid": 1.5)"), line("/tensors/t0/uid", "1.5", "expected an integer of 64 bits, or null")},
        {tensor(R"("uid": 9223372036854775808)"),
         line("/tensors/t0/uid", "9223372036854775808", "expected an integer of 64 bits, or null")},
        {tensor(R"("uid": -9223372036854775809)"),
         line("/tensors/t0/uid", "-9223372036854775808.0", "expected an integer of 64 bits, or null"),
         Schema::CannotSay},
        {tensor(R"("alignment": null)"), line("/tensors/t0/alignment", "null", "expected an integer of 64 bits")},
        {tensor(R"("dim": 4)"), line("/tensors/t0/dim", "4", "expected a list of integers")},
        {tensor(R"("dim": [2, 8, "512", 128])"),
         line("/tensors/t0/dim/2", "\"512\"", "expected an integer of 64 bits")},
        {tensor(R"("dim": [[1]])"), line("/tensors/t0/dim/0", "an array", "expected an integer of 64 bits")},
        {tensor(R"("ragged_offset": "t1")"),
         line("/tensors/t0/ragged_offset", R"(the missing tensor "t1")", "expected the ids t0 to t0"),
         Schema::CannotSay},
        {tensor(R"("ragged_offset": "t0")"),
         line("/tensors/t0/ragged_offset", R"(the tensor "t0", which has a ragged offset itself)",
              "expected a tensor without one"),
         Schema::CannotSay},
        {tensor(R"("ragged_offset": 0)"), line("/tensors/t0/ragged_offset", "0", "expected a tensor id as a string")},
        {tensor(R"("value": 0.5)"), line("/tensors/t0/value", "0.5", kScalar)},
        {tensor(R"("value": {"type": "FLOAT"})"), line("/tensors/t0/value", "an object", kScalar)},
        {tensor(R"("value": {"type": "FLOAT", "value": 1, "bits": 1})"),
         line("/tensors/t0/value", "an object", kScalar)},
        {tensor(R"("value": {"value": 1, "bits": 1})"), line("/tensors/t0/value", "an object", kScalar)},
        {tensor(R"("value": {"type": "FLOTA", "value": 1})"),
         line("/tensors/t0/value/type", R"(the unknown name "FLOTA")",
              std::string("expected ") + kDataTypes + ". Try: \"FLOAT\"")},
        {tensor(R"("value": {"type": "FLOAT", "value": "1"})"),
         line("/tensors/t0/value/value", "\"1\"", "expected a value of FLOAT")},
        {tensor(R"("value": {"type": "HALF", "value": 65536})"),
         line("/tensors/t0/value/value", "65536", "expected a value of HALF"), Schema::CannotSay},
        {tensor(R"("value": {"type": "INT8", "value": 128})"),
         line("/tensors/t0/value/value", "128", "expected a value of INT8"), Schema::CannotSay},
        {tensor(R"("value": {"type": "INT32", "value": 0.5})"),
         line("/tensors/t0/value/value", "0.5", "expected a value of INT32"), Schema::CannotSay},
        {tensor(R"("value": {"type": "FP8_E4M3", "value": 1})"),
         line("/tensors/t0/value/value", "1", "expected a value of FP8_E4M3"), Schema::CannotSay},
        {tensor(R"("value": {"type": "FP8_E4M3", "bits": -1})"),
         line("/tensors/t0/value/bits", "-1", "expected the bits as an integer from 0 to 2^64-1")},
        {tensor(R"("reordering": "f16x16")"),
         line("/tensors/t0/reordering", R"(the unknown name "f16x16")",
              R"(expected one of NONE, INT8x32, F16x16, F8_128x4. Try: "F16x16")")},
    };
}

std::vector<Malformed> faulty_modifiers() {
    auto const modified = [](char const* version, std::string const& tag, std::string const& modifier) {
        return std::string(R"({"format": "sdpa-graph", "version": )") + version +
               R"(, "tensors": {}, "nodes": [{"tag": ")" + tag + R"(", "modifier": )" + modifier + "}]}";
    };
    std::string const unknown = R"(the unknown member "modifier")";
    return {
        {modified("1", "SDPA_FORWARD", "[]"), line("/nodes/0/modifier", unknown, "expected one of"), Schema::CannotSay},
        {modified("2", "POINTWISE", "[]"), line("/nodes/0/modifier", unknown, "expected one of")},
        {modified("2", "SDPA_FORWARD", "{}"), line("/nodes/0/modifier", "an object", "expected a list of nodes")},
        {modified("2", "SDPA_FORWARD", R"([{"tag": "SDPA_FORWARD"}])"),
         line("/nodes/0/modifier/0/tag", R"(the unknown tag "SDPA_FORWARD")",
              "expected one of POINTWISE, MATMUL, REDUCTION, SLICE, RESHAPE, TRANSPOSE")},
        {modified("2", "SDPA_FORWARD", R"([{"tag": "POINTWISE", "modifier": []}])"),
         line("/nodes/0/modifier/0/modifier", unknown, "expected one of")},
    };
}

std::vector<Malformed> faulty_nodes() {
    return {
        {document("{}", "[1]"), line("/nodes/0", "1", "expected an object")},
        {node(R"("name": "x")"), line("/nodes/0", R"(no member "tag")", expected_tags())},
        {node(R"("tag": 1)"), line("/nodes/0/tag", "1", "expected a tag as a string")},
        {node(R"("tag": "MATMULL")"),
         line("/nodes/0/tag", R"(the unknown tag "MATMULL")", expected_tags() + ". Try: \"MATMUL\"")},
        {node(R"("tag": "RMSNORM")"), line("/nodes/0/tag", R"(the unknown tag "RMSNORM")", expected_tags())},
        {matmul(R"("input": {})"),
         line("/nodes/0/input", R"(the unknown member "input")",
              R"(expected one of name, compute_data_type, tag, inputs, outputs, fields. Try: "inputs")")},
        {matmul(R"("name": null)"), line("/nodes/0/name", "null", "expected a string")},
        {matmul(R"("compute_data_type": "FP32")"),
         line("/nodes/0/compute_data_type", R"(the unknown name "FP32")", std::string("expected ") + kDataTypes)},
        {matmul(R"("inputs": ["t0"])"), line("/nodes/0/inputs", "an array", "expected an object")},
        {matmul(R"("inputs": {"a": "t0"})"),
         line("/nodes/0/inputs/a", R"(the unknown input "a")",
              R"(expected one of A, B, M_override, N_override, K_override. Try: "A")")},
        {matmul(R"("inputs": {"C": "t0"})"),
         line("/nodes/0/inputs/C", R"(the unknown input "C")", "expected one of A, B")},
        {matmul(R"("outputs": {"A": "t0"})"), line("/nodes/0/outputs/A", R"(the unknown output "A")", "expected C")},
        {matmul(R"("inputs": {"A": 0})"), line("/nodes/0/inputs/A", "0", "expected a tensor id as a string")},
        {matmul(R"("inputs": {"A": null})"), line("/nodes/0/inputs/A", "null", "expected a tensor id as a string")},
        {matmul(R"("inputs": {"A": "t2"})"),
         line("/nodes/0/inputs/A", R"(the missing tensor "t2")",
              "expected the ids t0 to t1, one for each of 2 tensors"),
         Schema::CannotSay},
        {document("{}", R"([{"tag": "MATMUL", "inputs": {"A": "t0"}}])"),
         line("/nodes/0/inputs/A", R"(the missing tensor "t0")", "expected no tensor id: the document has no tensors"),
         Schema::CannotSay},
        {matmul(R"("fields": [])"), line("/nodes/0/fields", "an array", "expected an object")},
        {matmul(R"("fields": {"padding": 1})"),
         line("/nodes/0/fields/padding", R"(the unknown member "padding")", kMatmulFields)},
        {matmul(R"("fields": {"padding_value": "NaN"})"),
         line("/nodes/0/fields/padding_value", "\"NaN\"", R"(expected a number, or one of "nan", "inf", "-inf")")},
        {forward(R"("attn_scle": 1)"),
         line("/nodes/0/fields/attn_scle", R"(the unknown member "attn_scle")",
              expected_fields(nodes::SdpaForwardFields::schema) + ". Try: \"attn_scale\"")},
        {forward(R"("deterministic": true)"),
         line("/nodes/0/fields/deterministic", R"(the unknown member "deterministic")", "expected one of")},
        {forward(R"("attn_scale": 1e39)"),
         line("/nodes/0/fields/attn_scale", "1e+39",
              R"(expected a number in the range of float, or one of "nan", "inf", "-inf", or null)")},
        {forward(R"("alibi_mask": "true")"), line("/nodes/0/fields/alibi_mask", "\"true\"", "expected true or false")},
        {forward(R"("left_bound": 1e2)"),
         line("/nodes/0/fields/left_bound", "100.0", "expected an integer of 64 bits, or null"), Schema::CannotSay},
        {node(R"("tag": "POINTWISE", "fields": {"mode": "AD"})"),
         line("/nodes/0/fields/mode", R"(the unknown name "AD")",
              R"(expected one of NOT_SET, ADD, MUL, SQRT, MAX, MIN, RELU_FWD, TANH_FWD and 43 more. Try: "ADD")")},
    };
}

}  // namespace

std::vector<Malformed> malformed_documents() {
    std::vector<Malformed> all = not_json();
    for (auto const& group : {faulty_documents(), faulty_tensors(), faulty_modifiers(), faulty_nodes()}) {
        all.insert(all.end(), group.begin(), group.end());
    }
    return all;
}

}  // namespace cudnn_frontend::test
