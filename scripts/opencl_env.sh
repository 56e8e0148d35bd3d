# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Sourced: the OpenCL loader finds the driver that scripts/setup.sh has
# installed. Where it has not, or who sourced this has chosen drivers already,
# nothing changes.

opencl_icd="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/.deps/opencl/icd"
if [ -d "$opencl_icd" ] && [ -z "${OCL_ICD_VENDORS:-}" ]; then
  export OCL_ICD_VENDORS=$opencl_icd
fi
unset opencl_icd
