// The parts of the extension module, one for each file.
#pragma once

#include "graph.h"

namespace binding {

void bind_tensor(py::module_& module);
void bind_runtime(py::module_& module);
void bind_command(py::module_& module);
void bind_views(py::module_& module);
void bind_group(py::module_& module);
void bind_flash(py::module_& module);
void bind_operator_calls(py::module_& module);
void bind_attention_calls(py::module_& module);
void bind_neighborhood(py::module_& module);
// These add methods to the class of graphs.
void bind_stages(Graph_class& graph);
void bind_attention(Graph_class& graph);
void bind_primitives(Graph_class& graph);
void bind_execution(Graph_class& graph);
void bind_planning(Graph_class& graph);
void bind_neighborhood_nodes(Graph_class& graph);
void bind_group_of_graphs(Graph_class& graph);

}  // namespace binding
