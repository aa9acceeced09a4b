// The op graph for Graphviz: boxes are operations, ellipses are values that exist outside of them.
#include "core/names.h"
#include "core/text.h"
#include "ir/faults.h"

namespace cudnn_frontend::ir {
namespace {

using core::escaped_for_dot;

class Dot {
   public:
    explicit Dot(OpGraph const& graph) : graph_(graph), writers_(graph.values().size(), kNobody) {}

    std::string run() && {
        text_ = "digraph op_graph {\n  node [fontname=\"Helvetica\"];\n";
        for (std::size_t i = 0; i < writers_.size(); ++i) value_node(static_cast<ValueId>(i));
        for (std::size_t i = 0; i < graph_.ops().size(); ++i) op_node(i);
        for (std::size_t i = 0; i < graph_.ops().size(); ++i) op_edges(i);
        return std::move(text_) + "}\n";
    }

   private:
    static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

    static std::string value_name(ValueId id) { return "value_" + std::to_string(id); }
    static std::string op_name(std::size_t index) { return "op_" + std::to_string(index); }

    std::string shape_text(ValueId id) const {
        return std::string(core::name_of(graph_.value(id).type)) + " " + core::to_string(graph_.value(id).dim);
    }

    void value_node(ValueId id) {
        Value const& value = graph_.value(id);
        if (value.role == Role::Virtual || value.view_of != kNoValue) return;
        text_ += "  " + value_name(id) + " [shape=ellipse, label=\"" + escaped_for_dot(label_of(graph_, id)) + "\\n" +
                 shape_text(id) + "\"];\n";
    }

    void op_node(std::size_t index) {
        Op const& op = graph_.ops()[index];
        std::string const name = op.name.empty() ? "" : "\\n" + escaped_for_dot(op.name);
        text_ += "  " + op_name(index) + " [shape=box, label=\"" + kind_name(op) + name + "\"];\n";
        for (NamedValue const& out : outputs_of(op))
            writers_[static_cast<std::size_t>(graph_.storage_of(out.value))] = index;
    }

    void op_edges(std::size_t index) {
        Op const& op = graph_.ops()[index];
        for (NamedValue const& in : inputs_of(op)) edge(source_of(in.value), op_name(index), in);
        for (NamedValue const& out : outputs_of(op)) {
            ValueId const storage = graph_.storage_of(out.value);
            if (graph_.value(storage).role != Role::Virtual) edge(op_name(index), value_name(storage), out);
        }
    }

    // A real value is a node of its own even where an operation wrote it; a virtual one is the edge from its writer.
    std::string source_of(ValueId id) const {
        ValueId const storage = graph_.storage_of(id);
        bool const is_virtual = graph_.value(storage).role == Role::Virtual;
        return is_virtual ? op_name(writers_[static_cast<std::size_t>(storage)]) : value_name(storage);
    }

    void edge(std::string const& from, std::string const& to, NamedValue const& operand) {
        text_ += "  " + from + " -> " + to + " [label=\"" + operand.label + ": %" + std::to_string(operand.value) +
                 " " + core::to_string(graph_.value(operand.value).dim) + "\"];\n";
    }

    OpGraph const& graph_;
    std::vector<std::size_t> writers_;
    std::string text_;
};

}  // namespace

std::string to_dot(OpGraph const& graph) { return Dot(graph).run(); }

}  // namespace cudnn_frontend::ir
