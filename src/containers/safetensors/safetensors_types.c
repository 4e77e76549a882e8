/* SPDX-License-Identifier: MIT
 *
 * The dtypes of safetensors: its rows of dtype_names.def. */
#include "containers/safetensors/safetensors.h"
#include "util/checked.h"

#include <string.h>

/* One macro per naming system; only the safetensors rows are kept. */
#define ROW_COMMON(id, spelling)
#define ROW_TORCH(id, spelling)
#define ROW_NUMPY(id, spelling)
#define ROW_NPY(id, spelling)
#define ROW_ML_DTYPES(id, spelling)
#define ROW_XLA(id, spelling)
#define ROW_MLIR(id, spelling)
#define ROW_ONNX(id, spelling)
#define ROW_GGUF(id, spelling)
#define ROW_CUDA(id, spelling)
#define ROW_TRITON(id, spelling)
#define NAME(id, system, spelling, number) ROW_##system(id, spelling)
enum {
    TYPE_NONE,
#define ROW_SAFETENSORS(id, spelling) TYPE_##id,
#include "core/dtype/dtype_names.def"
#undef ROW_SAFETENSORS
    TYPE_END
};
static const struct {
    unsigned char dtype, length;
    char name[12];
} types[TYPE_END] = {
#define ROW_SAFETENSORS(id, spelling) \
    [TYPE_##id] = {.dtype = DTI_##id, .length = sizeof(spelling) - 1, .name = spelling},
#include "core/dtype/dtype_names.def"
#undef ROW_SAFETENSORS
};
static const unsigned char type_of[DTI_DTYPE_COUNT] = {
#define ROW_SAFETENSORS(id, spelling) [DTI_##id] = TYPE_##id,
#include "core/dtype/dtype_names.def"
#undef ROW_SAFETENSORS
};
#undef NAME

const char *dti_safetensors_name(const struct dti_format *format)
{
    const unsigned type = format->id == DTI_NONE ? TYPE_NONE : type_of[format->id];
    return type == TYPE_NONE ? NULL : types[type].name;
}

const struct dti_format *dti_safetensors_format(const char *name, size_t length,
                                                const char **ret_name)
{
    for (size_t i = TYPE_NONE + 1; i < TYPE_END; i++) {
        if (types[i].length == length && memcmp(types[i].name, name, length) == 0) {
            *ret_name = types[i].name;
            return dti_format_get((enum dti_dtype)types[i].dtype);
        }
    }
    return NULL;
}

bool dti_safetensors_stores(const struct dti_format *format, struct dti_layout *ret_layout)
{
    if (!dti_safetensors_name(format))
        return false;
    *ret_layout = dti_file_layout(format, DTI_PACKING_LOW, false);
    return true;
}

/* Every format with a name is stored at its own width. */
unsigned dti_safetensors_bits(const struct dti_format *format)
{
    return format->width;
}

bool dti_safetensors_measure(const struct dti_format *format, const uint64_t *shape, unsigned rank,
                             uint64_t *ret_elements, uint64_t *ret_bits)
{
    uint64_t elements = 1;
    for (unsigned i = 0; i < rank; i++) {
        if (!dti_mul_u64(elements, shape[i], &elements))
            return false;
    }
    *ret_elements = elements;
    return dti_mul_u64(elements, dti_safetensors_bits(format), ret_bits);
}
