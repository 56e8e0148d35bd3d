# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What every part is compiled with: ccache and lld where present, warnings as
# errors, sanitizers on request.
find_program(ASHLAR_CCACHE ccache)
if(ASHLAR_CCACHE)
  # The precompiled header carries time stamps and macros that ccache would
  # otherwise refuse to look past.
  set(launcher ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime
      ${ASHLAR_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  find_program(ASHLAR_LLD ld.lld-22)
  if(ASHLAR_LLD)
    add_link_options(--ld-path=${ASHLAR_LLD})
  endif()
  # libstdc++ 12's own std::stable_sort warns under clang 22.
  add_compile_options(-fcolor-diagnostics -Wno-deprecated-declarations)
endif()
add_compile_options(-Wall -Wextra -fno-semantic-interposition)
if(ASHLAR_WERROR)
  add_compile_options(-Werror)
endif()
if(ASHLAR_SANITIZE)
  add_compile_options(-fsanitize=${ASHLAR_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all -g1)
  add_link_options(-fsanitize=${ASHLAR_SANITIZE})
endif()
# The compiler's own code is not where time goes; -O3 only builds longer.
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")
