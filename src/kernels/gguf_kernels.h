/* SPDX-License-Identifier: MIT
 *
 * Declares the decoders of every level. */
#ifndef DTINFO_KERNELS_GGUF_KERNELS_H
#define DTINFO_KERNELS_GGUF_KERNELS_H

#include "dtinfo/gguf_kernel.h"

extern dti_gguf_decode_fn *const dti_gguf_decode_scalar[DTI_GGUF_BLOCKS_COUNT];
#ifdef DTI_HAVE_X86
extern dti_gguf_decode_fn *const dti_gguf_decode_avx2[DTI_GGUF_BLOCKS_COUNT];
extern dti_gguf_decode_fn *const dti_gguf_decode_avx512[DTI_GGUF_BLOCKS_COUNT];
dti_gguf_decode_fn dti_gguf_iq4_nl_avx2, dti_gguf_iq4_xs_avx2, dti_gguf_mxfp4_avx2,
    dti_gguf_nvfp4_avx2;
dti_gguf_decode_fn dti_gguf_iq4_nl_avx512, dti_gguf_iq4_xs_avx512, dti_gguf_mxfp4_avx512,
    dti_gguf_nvfp4_avx512;
#endif

#endif
