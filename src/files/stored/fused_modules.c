/* SPDX-License-Identifier: MIT
 *
 * Projections that loaders store as one matrix: vLLM's packed_modules_mapping. Needed wherever
 * tensors are written or checked that share a property across the whole matrix. */
#include "files/stored/fused_modules.h"

#include <string.h>

static const char *const fused[][DTI_FUSED_MOST] = {
    {"q_proj.weight", "k_proj.weight", "v_proj.weight"},
    {"gate_proj.weight", "up_proj.weight"},
    {"w1.weight", "w3.weight"},
    {"q_a_proj.weight", "kv_a_proj_with_mqa.weight"},
    {"in_proj_qkv.weight", "in_proj_z.weight"},
    {"in_proj_b.weight", "in_proj_a.weight"},
};

/* Whether the name's last components equal the ending. */
static bool ends(const char *name, size_t length, const char *ending)
{
    const size_t wanted = strlen(ending);
    return length >= wanted && memcmp(name + length - wanted, ending, wanted) == 0 &&
           (length == wanted || name[length - wanted - 1] == '.');
}

bool dti_fused_name_read(struct dti_fused_name *ret, const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof fused / sizeof *fused; i++) {
        for (unsigned part = 0; part < DTI_FUSED_MOST && fused[i][part]; part++) {
            if (!ends(name, length, fused[i][part]))
                continue;
            *ret = (struct dti_fused_name){
                .endings = fused[i], .part = part, .prefix = length - strlen(fused[i][part])};
            return true;
        }
    }
    return false;
}
