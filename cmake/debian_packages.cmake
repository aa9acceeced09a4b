# Packages for Debian and Ubuntu, of a build with the shared library: cpack -G DEB. One package for each component.
if(NOT BUILD_SHARED_LIBS OR NOT TARGET sdpa OR NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

set(package_of_library ${runtime_package})
set(package_of_development libsdpa-graph-dev)
set(package_of_tools sdpa-graph-tools)
set(CPACK_COMPONENTS_ALL "")
foreach(component library development tools)
  # Each package has its license where Debian looks for it, which other ways to install have no use for.
  install(FILES ${CMAKE_CURRENT_LIST_DIR}/debian_copyright.txt RENAME copyright COMPONENT ${component}_license EXCLUDE_FROM_ALL
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package_of_${component}})
  list(APPEND CPACK_COMPONENTS_ALL ${component} ${component}_license)
  string(TOUPPER ${component} name)
  set(CPACK_COMPONENT_${name}_GROUP ${component})
  set(CPACK_COMPONENT_${name}_LICENSE_GROUP ${component})
  set(CPACK_DEBIAN_${name}_PACKAGE_NAME ${package_of_${component}})
endforeach()

# The first line of each is its summary, in place of the project's description.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "attention graphs for cuDNN and the CPU: library
Scaled-dot-product attention, forward and backward, as graphs that run on cuDNN or on the CPU. cuDNN and CUDA are opened at \
run time, where they are installed.")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "attention graphs for cuDNN and the CPU: headers
The headers, the CMake packages and the pkg-config file with which programs are built. The headers need only the standard \
library.")
set(CPACK_DEBIAN_TOOLS_DESCRIPTION "attention graphs for cuDNN and the CPU: command sdpa
Answers about attention graphs from a shell: whether a graph runs on a GPU that need not be here, why not, what would run, its \
mask, its numbers, and what is installed.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${package_of_library} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "${package_of_library} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/src)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The sdpa-graph authors")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_PACKAGE_NAME sdpa-graph)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
include(CPack)
