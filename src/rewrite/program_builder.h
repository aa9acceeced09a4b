// Writes programs, step by step. Their attentions are validated once: programs of one class of shapes have equal ones.
#pragma once

#include "nodes/validation/checked_graphs.h"
#include "rewrite/attention_node.h"

namespace cudnn_frontend::rewrite {

// An attention, port by port.
class AttentionDraft {
   public:
    // The user's. Connects no port but those that hold numbers, such as attn_scale.
    explicit AttentionDraft(Attention const& attention);
    // Another one for a graph of the user's.
    AttentionDraft(nodes::GraphHead const& head, nodes::Node node);
    // The same without the names of the graph and the node.
    static AttentionDraft without_names(Attention const& attention);
    // The user's attention with all of its tensors, each in its place.
    static AttentionDraft of_whole(Attention const& attention);

    nodes::AttentionFields& fields();
    template <class Fields>
    Fields& fields_of() {
        return std::get<Fields>(node_.fields);
    }
    void connect(int port, View const& view);
    // A tensor whose sequences start where `starts` says.
    void connect_packed(int port, View const& view, View const& starts);
    // A tensor of the draft's graph, and a node next to the attention. The tensor's place is needed where it is neither
    // virtual nor a number that the graph holds.
    nodes::TensorId add_tensor(nodes::TensorSpec tensor, std::optional<Place> const& place = {});
    void add_node(nodes::Node node) { spec_.nodes.push_back(std::move(node)); }
    void connect(int port, nodes::TensorId tensor) { node_.ports[static_cast<std::size_t>(port)] = tensor; }
    // Moves a tensor of such a draft to another place, where it may have another type and other strides.
    void place(int port, View const& view);

   private:
    friend class ProgramBuilder;

    // The tensor of the graph that lies there; a new one if there is none.
    nodes::TensorId starts_at(View const& starts);
    std::int64_t unused_uid() const;
    nodes::TensorId add(std::string name, std::int64_t uid, View const& view);

    nodes::GraphSpec spec_;  // without the attention
    nodes::Node node_;
    std::vector<Attend::TensorBinding> bindings_;
};

class ProgramBuilder {
   public:
    explicit ProgramBuilder(std::string name) { program_.name = std::move(name); }

    // Row-major, without gaps.
    View scratch(DataType_t type, core::Dims dim);
    View scratch_like(View const& view) { return scratch(view.type, view.dim); }

    error_t attend(AttentionDraft draft, Lane lane = Lane::Main);
    void merge(Merge step) { program_.steps.push_back(Joint(std::move(step))); }
    void sum(Sum step) { program_.steps.push_back(Joint(std::move(step))); }
    void join(Joint step) { program_.steps.push_back(std::move(step)); }
    void start(std::shared_ptr<Pieces const> pieces) { program_.steps.emplace_back(Exchange{std::move(pieces)}); }
    void finish(std::shared_ptr<Pieces const> pieces) { program_.steps.emplace_back(Await{std::move(pieces)}); }
    void agree_on(std::string text) { program_.agreement = std::move(text); }
    void split_lengths(SplitLengths step) { program_.steps.push_back(Joint(std::move(step))); }
    void copy(View const& from, View const& to) { sum({repeat_once(from), to}); }
    void add(View const& term, View const& to) { sum({repeat_once(term), to, true}); }

    Program take() { return std::move(program_); }

   private:
    static View repeat_once(View const& view);

    Program program_;
    std::vector<nodes::CheckedGraphPointer> known_;
};

}  // namespace cudnn_frontend::rewrite
