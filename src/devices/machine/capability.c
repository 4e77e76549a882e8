/* SPDX-License-Identifier: MIT
 *
 * Native support of devices for each dtype: rows of capabilities.def. */
#include "devices/machine/capability.h"

#include <stddef.h>

static const struct {
    char name[12];
    char letter;
} capabilities[] = {
    [DTI_CAPABLE_SOFTWARE] = {"software", '-'},
    [DTI_CAPABLE_CONVERSION] = {"conversion", 'c'},
    [DTI_CAPABLE_MATRIX] = {"matrix", 'n'},
    [DTI_CAPABLE_ARITHMETIC] = {"arithmetic", 'N'},
};

static const struct {
    enum dti_instruction instruction;
    enum dti_dtype dtype;
    enum dti_capability capability;
    char source[48];
} cpu_rows[] = {
#define CPU_CAPABLE(instruction, dtype, capability, source) \
    {DTI_HAS_##instruction, DTI_##dtype, DTI_CAPABLE_##capability, source},
#define GPU_CAPABLE(...)
#include "devices/machine/capabilities.def"
#undef CPU_CAPABLE
#undef GPU_CAPABLE
};

static const struct {
    unsigned first, last; /* compute capability x 10 */
    enum dti_dtype dtype;
    enum dti_capability capability;
    char source[48];
} gpu_rows[] = {
#define CPU_CAPABLE(...)
#define GPU_CAPABLE(first, last, dtype, capability, source) \
    {first, last, DTI_##dtype, DTI_CAPABLE_##capability, source},
#include "devices/machine/capabilities.def"
#undef CPU_CAPABLE
#undef GPU_CAPABLE
};

const enum dti_dtype dti_capability_dtypes[] = {
    DTI_FP64,       DTI_FP32,     DTI_TF32,     DTI_BF16,     DTI_FP16, DTI_FP8_E5M2,
    DTI_FP8_E4M3FN, DTI_FP6_E3M2, DTI_FP6_E2M3, DTI_FP4_E2M1, DTI_INT8, DTI_INT4,
};
const size_t dti_capability_dtype_count =
    sizeof dti_capability_dtypes / sizeof *dti_capability_dtypes;

const char *dti_capability_name(enum dti_capability capability)
{
    return capabilities[capability].name;
}

char dti_capability_letter(enum dti_capability capability)
{
    return capabilities[capability].letter;
}

enum dti_capability dti_cpu_capability(const struct dti_machine *machine, enum dti_dtype dtype,
                                       const char **ret_source)
{
    enum dti_capability best = DTI_CAPABLE_SOFTWARE;
    *ret_source = "";
    for (size_t i = 0; i < sizeof cpu_rows / sizeof *cpu_rows; i++) {
        if (cpu_rows[i].dtype == dtype && machine->has[cpu_rows[i].instruction] &&
            cpu_rows[i].capability > best) {
            best = cpu_rows[i].capability;
            *ret_source = cpu_rows[i].source;
        }
    }
    return best;
}

enum dti_capability dti_gpu_capability(unsigned major, unsigned minor, enum dti_dtype dtype,
                                       const char **ret_source)
{
    enum { MAJOR_MOST = 99, MINOR_MOST = 9 };
    const unsigned number =
        (major < MAJOR_MOST ? major : MAJOR_MOST) * 10 + (minor < MINOR_MOST ? minor : MINOR_MOST);
    enum dti_capability best = DTI_CAPABLE_SOFTWARE;
    *ret_source = "";
    for (size_t i = 0; i < sizeof gpu_rows / sizeof *gpu_rows; i++) {
        if (gpu_rows[i].dtype == dtype && gpu_rows[i].first <= number &&
            number <= gpu_rows[i].last && gpu_rows[i].capability > best) {
            best = gpu_rows[i].capability;
            *ret_source = gpu_rows[i].source;
        }
    }
    return best;
}

const char *dti_instruction_fact(uint64_t instructions, enum dti_dtype dtype,
                                 enum dti_capability capability)
{
    for (size_t i = 0; i < sizeof cpu_rows / sizeof *cpu_rows; i++) {
        if (cpu_rows[i].dtype == dtype && cpu_rows[i].capability == capability &&
            (instructions >> cpu_rows[i].instruction & 1) != 0)
            return cpu_rows[i].source;
    }
    return NULL;
}

const char *dti_compute_fact(unsigned compute, enum dti_dtype dtype, enum dti_capability capability)
{
    for (size_t i = 0; i < sizeof gpu_rows / sizeof *gpu_rows; i++) {
        if (gpu_rows[i].dtype == dtype && gpu_rows[i].capability == capability &&
            gpu_rows[i].first <= compute && compute <= gpu_rows[i].last)
            return gpu_rows[i].source;
    }
    return NULL;
}
