// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// No driver builds this: it calls a function that nobody has.

float nowhere(float x);

kernel void lost(global float *p) { p[0] = nowhere(p[0]); }
