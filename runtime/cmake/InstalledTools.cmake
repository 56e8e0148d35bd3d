# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installed programs find our library beside them, wherever the folder is moved,
# and what is not ours where it was linked. To be included behind the library,
# which looks for nothing.

include(GNUInstallDirs)
file(RELATIVE_PATH library_folder /${CMAKE_INSTALL_BINDIR}
     /${CMAKE_INSTALL_LIBDIR})
set(CMAKE_INSTALL_RPATH "$ORIGIN/${library_folder}")
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
