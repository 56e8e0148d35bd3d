# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What an embedder finds after cmake --install: headers, library, and the
# descriptions that find_package and pkg-config read.

include(CMakePackageConfigHelpers)

install(TARGETS AshlarRuntime AshlarRuntimeStatic EXPORT AshlarRuntimeTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT AshlarRuntime
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT AshlarRuntime)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ashlar
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT AshlarRuntime)

set(directory ${CMAKE_INSTALL_LIBDIR}/cmake/AshlarRuntime)
install(EXPORT AshlarRuntimeTargets NAMESPACE Ashlar:: DESTINATION ${directory}
        FILE AshlarRuntimeConfig.cmake COMPONENT AshlarRuntime)
write_basic_package_version_file(
  ${CMAKE_CURRENT_BINARY_DIR}/AshlarRuntimeConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/AshlarRuntimeConfigVersion.cmake
        DESTINATION ${directory} COMPONENT AshlarRuntime)

file(RELATIVE_PATH ASHLAR_PREFIX_FROM_PC
     /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/ashlar-runtime.pc.in
               ${CMAKE_CURRENT_BINARY_DIR}/ashlar-runtime.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/ashlar-runtime.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT AshlarRuntime)
