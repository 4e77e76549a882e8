/* SPDX-License-Identifier: MIT
 *
 * The words that options of `bench` take, as choice tables. */
#include "cli/bench/bench_job.h"

const struct dti_choice dti_choice_bench_data[] = {
    {.name = "normal", .value = DTI_BENCH_NORMAL, .help = "normal; integers: over their range"},
    {.name = "uniform", .value = DTI_BENCH_UNIFORM, .help = "uniform in [1, 2); integers: any"},
    {.name = "bits", .value = DTI_BENCH_BITS, .help = "any code"},
    {.name = "subnormal",
     .value = DTI_BENCH_SUBNORMAL,
     .help = "below the smallest normal of the destination"},
    {.name = "nan1", .value = DTI_BENCH_NAN1, .help = "normal, 1 % NaN and infinities"},
    {.name = NULL},
};

const struct dti_choice dti_choice_bench_cache[] = {
    {.name = "hot", .value = DTI_BENCH_HOT, .help = "the same buffers again and again"},
    {.name = "warm", .value = DTI_BENCH_HOT, .help = "the same as hot"},
    {.name = "cold",
     .value = DTI_BENCH_COLD,
     .help = "many buffers in turns, larger than the caches"},
    {.name = NULL},
};

const struct dti_choice dti_choice_bench_threads[] = {
    {.name = "1", .help = "a thread alone"},
    {.name = "all", .help = "one on each CPU"},
    {.name = NULL},
};

const struct dti_choice dti_choice_bench_level[] = {
    {.name = "all", .help = "every level of this CPU"},
#define LEVEL(id, level_name, architecture, what) {.name = level_name, .help = what},
#include "dtinfo/levels.def"
#undef LEVEL
    {.name = NULL},
};

const struct dti_choice dti_choice_bench_device[] = {
    {.name = "cpu", .help = "the CPU (default)"},
    {.name = "cuda", .help = "the first CUDA device"},
    {.name = "auto", .help = "a CUDA device if there is one, else the CPU"},
    {.name = "all", .help = "every device"},
    {.name = NULL},
};

const struct dti_choice dti_choice_bench_engine[] = {
    {.name = "dtinfo", .help = "the program's own kernels"},
    {.name = "onednn", .help = "oneDNN, where it is installed"},
    {.name = "openblas", .help = "OpenBLAS, where it is installed"},
    {.name = "cublaslt", .help = "cuBLASLt, for CUDA devices"},
    {.name = NULL},
};
