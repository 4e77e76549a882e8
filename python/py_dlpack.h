/* SPDX-License-Identifier: MIT
 *
 * DLPack: how Python libraries hand arrays to each other (dmlc/dlpack, include/dlpack/dlpack.h,
 * version 1.3). Layouts of structs and numbers of types are its ABI. */
#ifndef PY_DLPACK_H
#define PY_DLPACK_H

#include <stdint.h>

enum { DL_CPU = 1, DL_CUDA_HOST = 3, DL_ROCM_HOST = 11 }; /* devices whose memory we can read */
enum dl_code {
    DL_INT = 0,
    DL_UINT = 1,
    DL_FLOAT = 2,
    DL_BFLOAT = 4,
    DL_COMPLEX = 5,
    DL_BOOL = 6,
    DL_FP8_E3M4 = 7,
    DL_FP8_E4M3 = 8,
    DL_FP8_E4M3B11FNUZ = 9,
    DL_FP8_E4M3FN = 10,
    DL_FP8_E4M3FNUZ = 11,
    DL_FP8_E5M2 = 12,
    DL_FP8_E5M2FNUZ = 13,
    DL_FP8_E8M0FNU = 14,
    DL_FP6_E2M3FN = 15,
    DL_FP6_E3M2FN = 16,
    DL_FP4_E2M1FN = 17,
};
enum { DL_READ_ONLY = 1, DL_COPIED = 2, DL_PADDED = 4 }; /* padded: a sub-byte code per byte */

struct dl_type {
    uint8_t code, bits;
    uint16_t lanes;
};
struct dl_device {
    int32_t type, id;
};
struct dl_tensor {
    void *data;
    struct dl_device device;
    int32_t rank;
    struct dl_type type;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL: row-major without gaps */
    uint64_t byte_offset;
};
/* In a capsule "dltensor", "used_dltensor" once taken. */
struct dl_managed {
    struct dl_tensor tensor;
    void *owner;
    void (*deleter)(struct dl_managed *self);
};
struct dl_version {
    uint32_t major, minor;
};
/* In a capsule "dltensor_versioned", "used_dltensor_versioned" once taken. */
struct dl_managed_versioned {
    struct dl_version version;
    void *owner;
    void (*deleter)(struct dl_managed_versioned *self);
    uint64_t flags;
    struct dl_tensor tensor;
};
/* In a capsule "dlpack_exchange_api", attribute __dlpack_c_exchange_api__ of a type: the same
 * without Python calls. Functions return 0, or -1 with an exception. */
struct dl_exchange {
    struct dl_version version;
    struct dl_exchange *previous;
    void *allocate;
    int (*export_managed)(void *object, struct dl_managed_versioned **ret);
    int (*import_managed)(struct dl_managed_versioned *managed, void **ret_object);
    int (*export_borrowed)(void *object, struct dl_tensor *ret); /* valid while the object is */
    void *current_stream;
};

#endif
