// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions and dataflows by name.

#include "Decoder.h"

namespace ashlar::systolic {

std::string nameOf(uint32_t funct) {
  switch (funct) {
  case ASHLAR_SYSTOLIC_CONFIG:
    return "config";
  case ASHLAR_SYSTOLIC_MVIN:
    return "mvin";
  case ASHLAR_SYSTOLIC_MVIN2:
    return "mvin2";
  case ASHLAR_SYSTOLIC_MVIN3:
    return "mvin3";
  case ASHLAR_SYSTOLIC_MVOUT:
    return "mvout";
  case ASHLAR_SYSTOLIC_COMPUTE_PRELOADED:
    return "compute_preloaded";
  case ASHLAR_SYSTOLIC_COMPUTE_ACCUMULATED:
    return "compute_accumulated";
  case ASHLAR_SYSTOLIC_PRELOAD:
    return "preload";
  case ASHLAR_SYSTOLIC_FLUSH:
    return "flush";
  case ASHLAR_SYSTOLIC_CONFIG_STREAM:
    return "config_stream";
  case ASHLAR_SYSTOLIC_CONFIG_COLUMNS:
    return "config_columns";
  case ASHLAR_SYSTOLIC_CONFIG_VECTOR:
    return "config_vector";
  case ASHLAR_SYSTOLIC_TABLE:
    return "table";
  case ASHLAR_SYSTOLIC_SYNC:
    return "sync";
  case ASHLAR_SYSTOLIC_REGION:
    return "region";
  case ASHLAR_SYSTOLIC_LOOP:
    return "loop";
  case ASHLAR_SYSTOLIC_END:
    return "end";
  case ASHLAR_SYSTOLIC_ADVANCE:
    return "advance";
  }
  static const char *const vector[] = {"copy",
                                       "add",
                                       "subtract",
                                       "multiply",
                                       "maximum",
                                       "minimum",
                                       "fill",
                                       "add_immediate",
                                       "multiply_immediate",
                                       "maximum_immediate",
                                       "minimum_immediate",
                                       "exp",
                                       "reciprocal",
                                       "reciprocal_root",
                                       "lookup",
                                       "to_float",
                                       "to_integer",
                                       "row_maximum",
                                       "row_sum"};
  if (funct >= ASHLAR_SYSTOLIC_VECTOR_FIRST &&
      funct <= ASHLAR_SYSTOLIC_VECTOR_LAST)
    return vector[funct - ASHLAR_SYSTOLIC_VECTOR_FIRST];
  return "";
}

const char *dataflowName(uint32_t dataflow) {
  switch (dataflow) {
  case ASHLAR_SYSTOLIC_KEEPS_WEIGHTS:
    return "weight-stationary";
  case ASHLAR_SYSTOLIC_KEEPS_INPUTS:
    return "input-stationary";
  case ASHLAR_SYSTOLIC_KEEPS_SUMS:
    return "output-stationary";
  default:
    return "";
  }
}

} // namespace ashlar::systolic
