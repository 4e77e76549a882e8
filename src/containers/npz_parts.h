/* SPDX-License-Identifier: MIT
 *
 * What is kept of a .npz between finding its arrays and unpacking them. */
#ifndef DTINFO_NPZ_PARTS_H
#define DTINFO_NPZ_PARTS_H

#include "containers/inflate.h"
#include "containers/zip.h"
#include "dtinfo/input.h"

struct dti_npz_array {
    size_t member; /* its index in the archive */
    size_t start;  /* of the data in the unpacked member */
};
struct dti_npz {
    struct dti_zip zip;
    struct dti_npz_array *arrays; /* one for each tensor */
    bool unpacking;               /* scratch is open */
    struct dti_input scratch;     /* what has been unpacked, one array behind the other */
};

#endif
