# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs the runtime into a fresh folder, moves it, builds the README's C
# program against it through find_package and through pkg-config, and runs
# both. Needs BUILD, SOURCE, WORK, SAMPLE (a module), CC, GENERATOR and SANITIZE.

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK}/consumer)
run(${CMAKE_COMMAND} --install ${BUILD} --component AshlarRuntime --prefix
    ${WORK}/first)
file(RENAME ${WORK}/first ${WORK}/prefix)

file(WRITE ${WORK}/consumer/CMakeLists.txt
     "cmake_minimum_required(VERSION 3.20)
project(consumer LANGUAGES C)
find_package(AshlarRuntime 0.1 REQUIRED)
add_executable(embed ${SOURCE}/examples/embed.c)
target_link_libraries(embed PRIVATE Ashlar::AshlarRuntime)
")
run(${CMAKE_COMMAND} -S ${WORK}/consumer -B ${WORK}/consumer/build
    -G ${GENERATOR}
    -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_C_COMPILER=${CC}
    -DCMAKE_C_FLAGS=${SANITIZE})
run(${CMAKE_COMMAND} --build ${WORK}/consumer/build)
run(${WORK}/consumer/build/embed ${SAMPLE})
if(NOT output MATCHES "first output: 0")
  message(FATAL_ERROR "unexpected: ${output}")
endif()

# From a static library, as a program of one file.
file(WRITE ${WORK}/alone/CMakeLists.txt
     "cmake_minimum_required(VERSION 3.20)
project(alone LANGUAGES C)
find_package(AshlarRuntime 0.1 REQUIRED)
add_executable(embed ${SOURCE}/examples/embed.c)
target_link_libraries(embed PRIVATE Ashlar::AshlarRuntimeStatic)
")
run(${CMAKE_COMMAND} -S ${WORK}/alone -B ${WORK}/alone/build -G ${GENERATOR}
    -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_C_COMPILER=${CC}
    -DCMAKE_C_FLAGS=${SANITIZE})
run(${CMAKE_COMMAND} --build ${WORK}/alone/build)
run(${WORK}/alone/build/embed ${SAMPLE})
if(NOT output MATCHES "first output: 0")
  message(FATAL_ERROR "unexpected: ${output}")
endif()
run(ldd ${WORK}/alone/build/embed)
if(output MATCHES "ashlar")
  message(FATAL_ERROR "it is not linked statically: ${output}")
endif()

find_program(PKG_CONFIG pkg-config)
if(NOT PKG_CONFIG)
  message(STATUS "pkg-config is not installed: its half is skipped")
  return()
endif()
file(GLOB_RECURSE description ${WORK}/prefix/*/ashlar-runtime.pc)
get_filename_component(folder ${description} DIRECTORY)
get_filename_component(libraries ${folder} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${folder})
run(${PKG_CONFIG} --cflags --libs ashlar-runtime)
string(STRIP "${output}" flags)
separate_arguments(flags)
run(${CC} -std=c11 ${SANITIZE} -o ${WORK}/embed ${SOURCE}/examples/embed.c
    ${flags} -Wl,-rpath,${libraries})
run(${WORK}/embed ${SAMPLE})
