// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the double of CUDA's driver does and AMD's does as well, under its
// names: this is in front of the double's sources when they are compiled for
// libamdhip64.so. What HIP has not is not exported (Hip.map).

#ifndef ASHLAR_RUNTIME_TEST_HIP_HIPNAMES_H
#define ASHLAR_RUNTIME_TEST_HIP_HIPNAMES_H

#define ashlar_cuda_double ashlar_hip_double
#define ASHLAR_DOUBLE_PREFIX "ASHLAR_HIP_DOUBLE_"
// gfx942
#define ASHLAR_DOUBLE_MAJOR 9
#define ASHLAR_DOUBLE_MINOR 4

#define cuMemGetInfo_v2 hipMemGetInfo
#define cuMemAlloc_v2 hipMalloc
#define cuMemAllocAsync hipMallocAsync
#define cuMemFree_v2 hipFree
#define cuMemFreeAsync hipFreeAsync
#define cuMemHostAlloc hipHostMalloc
#define cuMemFreeHost hipHostFree
#define cuMemcpyHtoD_v2 hipMemcpyHtoD
#define cuMemcpyHtoDAsync_v2 hipMemcpyHtoDAsync
#define cuMemcpyDtoH_v2 hipMemcpyDtoH
#define cuMemcpyDtoHAsync_v2 hipMemcpyDtoHAsync
#define cuMemcpyDtoD_v2 hipMemcpyDtoD
#define cuMemcpyDtoDAsync_v2 hipMemcpyDtoDAsync
#define cuMemsetD8_v2 hipMemsetD8
#define cuMemsetD8Async hipMemsetD8Async
#define cuMemsetD32_v2 hipMemsetD32
#define cuMemsetD32Async hipMemsetD32Async
#define cuStreamCreate hipStreamCreateWithFlags
#define cuStreamCreateWithPriority hipStreamCreateWithPriority
#define cuStreamDestroy_v2 hipStreamDestroy
#define cuStreamSynchronize hipStreamSynchronize
#define cuStreamQuery hipStreamQuery
#define cuStreamGetFlags hipStreamGetFlags
#define cuStreamGetPriority hipStreamGetPriority
#define cuStreamWaitEvent hipStreamWaitEvent
#define cuStreamBeginCapture_v2 hipStreamBeginCapture
#define cuStreamEndCapture hipStreamEndCapture
#define cuEventCreate hipEventCreateWithFlags
#define cuEventDestroy_v2 hipEventDestroy
#define cuEventRecord hipEventRecord
#define cuEventQuery hipEventQuery
#define cuEventSynchronize hipEventSynchronize
#define cuEventElapsedTime hipEventElapsedTime
#define cuGraphInstantiateWithFlags hipGraphInstantiateWithFlags
#define cuGraphDestroy hipGraphDestroy
#define cuGraphLaunch hipGraphLaunch
#define cuGraphExecDestroy hipGraphExecDestroy
#define cuModuleUnload hipModuleUnload

#endif // ASHLAR_RUNTIME_TEST_HIP_HIPNAMES_H
