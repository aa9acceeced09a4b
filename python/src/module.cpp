#include "bindings.h"
#include "enums.h"
#include "errors.h"

PYBIND11_MODULE(_core, module) {
    using namespace binding;
    module.doc() = "The compiled part of sdpa_graph.";
    module.attr("__version__") = SDPA_GRAPH_PYTHON_VERSION;
    bind_errors(module);
    bind_enums(module);
    bind_tensor(module);
    bind_runtime(module);
    bind_command(module);
    bind_views(module);
    bind_group(module);
    bind_flash(module);
    bind_attention_calls(module);
    bind_operator_calls(module);
    bind_neighborhood(module);
    Graph_class graph(module, "Graph_base", "What pygraph is made of.");
    bind_stages(graph);
    bind_attention(graph);
    bind_primitives(graph);
    bind_execution(graph);
    bind_planning(graph);
    bind_neighborhood_nodes(graph);
    bind_group_of_graphs(graph);
}
