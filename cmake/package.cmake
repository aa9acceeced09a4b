# The files that are installed: the library, its headers, the CMake packages and the pkg-config file. It is relocatable. The components are
# library, development and tools: what programs need to run, what building them needs, and the command.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sdpa_graph)

install(TARGETS sdpa_graph EXPORT sdpa_graph INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  ARCHIVE COMPONENT development
  LIBRARY COMPONENT library NAMELINK_COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
  FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/devices/ DESTINATION ${CMAKE_INSTALL_DATADIR}/sdpa_graph/devices
  COMPONENT development FILES_MATCHING PATTERN "*.json")
install(EXPORT sdpa_graph NAMESPACE sdpa_graph:: FILE sdpa_graphTargets.cmake DESTINATION ${package_dir}
  COMPONENT development)

# The folder has the library's number, since several versions of the library may be installed.
set(runtime_package lib${library_name}${library_abi})
string(REPLACE _ - runtime_package ${runtime_package})
set(documents_dir ${CMAKE_INSTALL_DATADIR}/doc/${runtime_package})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
  ${PROJECT_SOURCE_DIR}/SECURITY.md DESTINATION ${documents_dir} COMPONENT library)
install(FILES ${sdpa_documents} DESTINATION ${documents_dir}/docs COMPONENT library)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/sdpa_graphConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/sdpa_graphConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/sdpa_graphConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/package/sdpa_graphConfig.cmake
  ${PROJECT_BINARY_DIR}/package/sdpa_graphConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT development)

# The same for projects that look for the existing frontend.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/cudnn_frontendConfigVersion.cmake
  VERSION ${api_version_MAJOR}.${api_version_MINOR}.${api_version_PATCH} COMPATIBILITY SameMajorVersion)
install(FILES
  ${CMAKE_CURRENT_LIST_DIR}/cudnn_frontendConfig.cmake
  ${PROJECT_BINARY_DIR}/package/cudnn_frontendConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cudnn_frontend COMPONENT development)

# The pkg-config file derives the prefix from its own location.
file(RELATIVE_PATH prefix_from_pkgconfig
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
if(BUILD_SHARED_LIBS)
  set(pkgconfig_libs "")
else()
  set(pkgconfig_libs " -pthread")
endif()
list(TRANSFORM library_definitions PREPEND " -D" OUTPUT_VARIABLE pkgconfig_definitions)
list(JOIN pkgconfig_definitions "" pkgconfig_definitions)
configure_file(${CMAKE_CURRENT_LIST_DIR}/sdpa_graph.pc.in ${PROJECT_BINARY_DIR}/package/sdpa_graph.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/package/sdpa_graph.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
  COMPONENT development)

include(debian_packages)
