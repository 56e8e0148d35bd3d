# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Our wrappers: dialect, passes, library, files, tool, unit test. A folder's
# CMakeLists is a call or two of them.
find_package(MLIR REQUIRED CONFIG PATHS /usr/lib/llvm-22)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "MLIR 22 is needed, found ${LLVM_VERSION} in ${MLIR_DIR}")
endif()
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
separate_arguments(definitions NATIVE_COMMAND ${LLVM_DEFINITIONS})
add_definitions(${definitions})
add_custom_target(ashlar-headers)

set(ASHLAR_INCLUDES ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)

# Generated code and MLIR's headers do not follow our warnings.
function(ashlar_compiler_options target)
  target_include_directories(${target} PUBLIC ${ASHLAR_INCLUDES})
  target_include_directories(${target} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS}
                             ${MLIR_INCLUDE_DIRS})
  target_compile_options(${target} PRIVATE -fno-exceptions -fPIC
                         "SHELL:-Xclang -fno-pch-timestamp"
                         -Wno-unused-parameter -Wno-missing-field-initializers)
endfunction()

# The one precompiled header of all compiler libraries and tools.
file(WRITE ${CMAKE_BINARY_DIR}/pch/AshlarPCH.cpp "")
add_library(AshlarPCH OBJECT ${CMAKE_BINARY_DIR}/pch/AshlarPCH.cpp)
ashlar_compiler_options(AshlarPCH)
set_target_properties(AshlarPCH PROPERTIES PCH_INSTANTIATE_TEMPLATES ON)
target_precompile_headers(AshlarPCH PRIVATE
  ${PROJECT_SOURCE_DIR}/include/ashlar/Precompiled.h)

function(ashlar_use_pch target)
  set_target_properties(${target} PROPERTIES PCH_INSTANTIATE_TEMPLATES ON)
  target_precompile_headers(${target} REUSE_FROM AshlarPCH)
endfunction()

# ashlar_add_dialect(Exec exec [PAGE Other.td]): ops, types, attributes and enums
# of one dialect from <Name>Ops.td, its reference page from another file where
# there are ops beside it.
function(ashlar_add_dialect name mnemonic)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "PAGE" "")
  set(LLVM_TARGET_DEFINITIONS ${name}Ops.td)
  set(LLVM_TABLEGEN_FLAGS -I${PROJECT_SOURCE_DIR}/include -I${MLIR_INCLUDE_DIRS})
  mlir_tablegen(${name}Dialect.h.inc -gen-dialect-decls -dialect=${mnemonic})
  mlir_tablegen(${name}Dialect.cpp.inc -gen-dialect-defs -dialect=${mnemonic})
  mlir_tablegen(${name}Ops.h.inc -gen-op-decls)
  mlir_tablegen(${name}Ops.cpp.inc -gen-op-defs)
  mlir_tablegen(${name}Enums.h.inc -gen-enum-decls)
  mlir_tablegen(${name}Enums.cpp.inc -gen-enum-defs)
  mlir_tablegen(${name}Types.h.inc -gen-typedef-decls
                -typedefs-dialect=${mnemonic})
  mlir_tablegen(${name}Types.cpp.inc -gen-typedef-defs
                -typedefs-dialect=${mnemonic})
  mlir_tablegen(${name}Attributes.h.inc -gen-attrdef-decls
                -attrdefs-dialect=${mnemonic})
  mlir_tablegen(${name}Attributes.cpp.inc -gen-attrdef-defs
                -attrdefs-dialect=${mnemonic})
  if(arg_PAGE)
    set(LLVM_TARGET_DEFINITIONS ${arg_PAGE})
  endif()
  mlir_tablegen(${name}Dialect.md -gen-dialect-doc -dialect=${mnemonic})
  add_public_tablegen_target(Ashlar${name}IncGen)
  add_dependencies(ashlar-headers Ashlar${name}IncGen)
endfunction()

# ashlar_add_passes(Fuse): declarations and documentation of one Passes.td.
function(ashlar_add_passes name)
  set(LLVM_TARGET_DEFINITIONS Passes.td)
  set(LLVM_TABLEGEN_FLAGS -I${PROJECT_SOURCE_DIR}/include -I${MLIR_INCLUDE_DIRS})
  mlir_tablegen(Passes.h.inc -gen-pass-decls -name ${name})
  mlir_tablegen(${name}Passes.md -gen-pass-doc)
  add_public_tablegen_target(Ashlar${name}PassesIncGen)
  add_dependencies(ashlar-headers Ashlar${name}PassesIncGen)
endfunction()

# ashlar_add_library(AshlarFuse A.cpp LINK_LIBS X): a compiler library; tools
# find all of them in the property ASHLAR_LIBS.
function(ashlar_add_library name)
  cmake_parse_arguments(ARG "NO_PCH" "" "LINK_LIBS" ${ARGN})
  set_property(GLOBAL APPEND PROPERTY ASHLAR_LIBS ${name})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  ashlar_compiler_options(${name})
  if(NOT ARG_NO_PCH)
    ashlar_use_pch(${name})
  endif()
  add_dependencies(${name} ashlar-headers)
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS})
endfunction()

# ashlar_embed_files(AshlarTargetCPU CPUMachines.inc a.json b.json): the texts of
# files, one {"a", "..."} each, for a library that includes CPUMachines.inc.
function(ashlar_embed_files library output)
  set(script ${PROJECT_SOURCE_DIR}/cmake/modules/EmbedFiles.cmake)
  set(files ${ARGN})
  list(TRANSFORM files PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set(path ${CMAKE_CURRENT_BINARY_DIR}/${output})
  add_custom_command(
    OUTPUT ${path}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${files}" -DOUTPUT=${path} -P ${script}
    DEPENDS ${files} ${script}
    VERBATIM)
  target_sources(${library} PRIVATE ${path})
  target_include_directories(${library} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()

# ashlar_add_tool(ashlar-opt ashlar-opt.cpp LINK_LIBS X): a program in bin/
# that links MLIR's and LLVM's shared libraries.
function(ashlar_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  set_property(GLOBAL APPEND PROPERTY ASHLAR_TOOLS ${name})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  ashlar_compiler_options(${name})
  ashlar_use_pch(${name})
  add_dependencies(${name} ashlar-headers)
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} MLIR LLVM)
endfunction()

# ashlar_add_unit_test(planner-test PlannerTest.cpp LINK_LIBS X): a GoogleTest
# program; ctest sees each of its tests.
function(ashlar_add_unit_test name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  find_package(GTest REQUIRED)
  include(GoogleTest)
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  ashlar_compiler_options(${name})
  ashlar_use_pch(${name})
  add_dependencies(${name} ashlar-headers)
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} MLIR LLVM
                        GTest::gtest_main)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/unittests)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60)
endfunction()
