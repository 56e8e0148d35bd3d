/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A libOpenCL.so.1 without any function of OpenCL. */
int ashlar_opencl_empty = 1;
