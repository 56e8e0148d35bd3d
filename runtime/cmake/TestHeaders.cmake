# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# One precompiled header of what nearly all of the runtime's tests include, for
# every target that links GoogleTest: it halves the time of a test's compile.
# With templates instantiated, which clang alone can.
if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
  return()
endif()
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/TestHeaders.cpp "")
add_library(AshlarTestHeaders OBJECT
            ${CMAKE_CURRENT_BINARY_DIR}/TestHeaders.cpp)
target_link_libraries(AshlarTestHeaders PRIVATE AshlarModuleSchema GTest::gtest
                                                AshlarRuntimeFlags)
# So that ccache knows it again.
target_compile_options(AshlarTestHeaders
                       PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
target_precompile_headers(AshlarTestHeaders PRIVATE <gtest/gtest.h>
                          <ashlar/runtime/module_generated.h>)
set(options PCH_INSTANTIATE_TEMPLATES ON)
set_target_properties(AshlarTestHeaders PROPERTIES ${options})
foreach(folder test test/cuda conformance)
  get_property(
    targets
    DIRECTORY ${folder}
    PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(libraries ${target} LINK_LIBRARIES)
    if(GTest::gtest_main IN_LIST libraries)
      target_precompile_headers(${target} REUSE_FROM AshlarTestHeaders)
      set_target_properties(${target} PROPERTIES ${options})
    endif()
  endforeach()
endforeach()
