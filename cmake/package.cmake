# What is installed: the library, its headers, the CMake packages and the pkg-config file. It is relocatable.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sdpa_graph)

install(TARGETS sdpa_graph EXPORT sdpa_graph INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/devices/ DESTINATION ${CMAKE_INSTALL_DATADIR}/sdpa_graph/devices
  FILES_MATCHING PATTERN "*.json")
install(EXPORT sdpa_graph NAMESPACE sdpa_graph:: FILE sdpa_graphTargets.cmake DESTINATION ${package_dir})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/sdpa_graphConfig.cmake.in
  ${PROJECT_BINARY_DIR}/package/sdpa_graphConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/sdpa_graphConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/package/sdpa_graphConfig.cmake
  ${PROJECT_BINARY_DIR}/package/sdpa_graphConfigVersion.cmake
  DESTINATION ${package_dir})

# The same for projects that look for the existing frontend.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/cudnn_frontendConfigVersion.cmake
  VERSION ${api_version_MAJOR}.${api_version_MINOR}.${api_version_PATCH} COMPATIBILITY SameMajorVersion)
install(FILES
  ${CMAKE_CURRENT_LIST_DIR}/cudnn_frontendConfig.cmake
  ${PROJECT_BINARY_DIR}/package/cudnn_frontendConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cudnn_frontend)

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
install(FILES ${PROJECT_BINARY_DIR}/package/sdpa_graph.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
