# SDPA_GRAPH_ABI_NAMESPACE: the preprocessor replaces the namespaces' names, in this library and in programs that link it. So
# sources stay as they are, and a class that a program declares itself is still this library's; it would not be in an inline
# namespace. The file's name differs too, since a process loads one shared library of a name.
set(library_namespace cudnn_frontend)
set(interfaces_namespace sdpa_graph)
set(library_name sdpa_graph)
set(library_definitions "")
if(SDPA_GRAPH_ABI_NAMESPACE)
  if(NOT SDPA_GRAPH_ABI_NAMESPACE MATCHES "^[A-Za-z][A-Za-z0-9_]*$" OR SDPA_GRAPH_ABI_NAMESPACE MATCHES "^(std|sdpa_graph)$")
    message(FATAL_ERROR "SDPA_GRAPH_ABI_NAMESPACE is \"${SDPA_GRAPH_ABI_NAMESPACE}\"; expected a name of letters, digits and "
      "underscores that no other library uses, such as my_attention")
  endif()
  set(library_namespace ${SDPA_GRAPH_ABI_NAMESPACE})
  set(library_name sdpa_graph_${SDPA_GRAPH_ABI_NAMESPACE})
  set(interfaces_namespace ${library_name})
  set(library_definitions cudnn_frontend=${library_namespace} sdpa_graph=${interfaces_namespace})
  add_compile_definitions(${library_definitions})
endif()

# Programs run with each library of the number with which they were linked: docs/releases.md. Before 1.0 a minor version may
# change what programs rely on.
set(library_abi ${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(library_abi 0.${PROJECT_VERSION_MINOR})
endif()
