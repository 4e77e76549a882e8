/* SPDX-License-Identifier: MIT
 *
 * The parameter types of the CUDA driver's functions, for 64-bit hosts. They have the names of
 * NVIDIA's documentation, so that cuda_symbols.def and cuda_values.def can be compiled against
 * its header if that is installed (tests/unit/check_driver_types.py). */
#ifndef DEVICES_GPU_CUDA_TYPES_H
#define DEVICES_GPU_CUDA_TYPES_H

#include <stddef.h>

/* enumerations in NVIDIA's header, all of the size of int */
typedef int CUresult;
typedef int CUdevice_attribute;
typedef int CUjit_option;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct {
    char bytes[16];
} CUuuid;

enum dti_cuda_value {
#define CUDA_VALUE(name, value) name = (value),
#include "devices/gpu/cuda_values.def"
#undef CUDA_VALUE
};

#endif
