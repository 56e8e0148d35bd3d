# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Writes the texts of FILES into OUTPUT, as initialisers in C++.
set(text "")
foreach(file ${FILES})
  # Dots belong to names; only the last extension goes.
  string(REGEX REPLACE "^.*/([^/]*)\\.[^.]*$" "\\1" name ${file})
  file(READ ${file} content)
  string(APPEND text "{\"${name}\", R\"file(${content})file\"},\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
