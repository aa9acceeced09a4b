// Graph::advice(): properties of a graph that are legal but probably not meant.
#pragma once

#include "report.h"

namespace cudnn_frontend {

struct Remark {
    error_location where;             // id of the advice, as in docs/spec.md, node, tensor
    std::vector<std::string> others;  // names of further tensors to which the same applies
    std::string found;                // the property that the advice is about
    std::string effect;               // its consequence
    std::string fix;                  // the remedy if it is not meant
};

class SDPA_GRAPH_API Advice {
   public:
    Advice();
    explicit Advice(std::vector<Remark> remarks);

    bool empty() const { return remarks_.empty(); }
    std::vector<Remark> const& remarks() const& { return remarks_; }
    std::vector<Remark> remarks() &&;  // so that for (... : graph.advice().remarks()) is safe
    std::string to_text() const;       // a line for each remark
    std::string to_json() const;       // an array of objects with the members of Remark

   private:
    std::vector<Remark> remarks_;
};

SDPA_GRAPH_API std::ostream& operator<<(std::ostream& stream, Advice const& advice);

}  // namespace cudnn_frontend
