/* SPDX-License-Identifier: MIT
 *
 * Mistakes in quant's options: nothing that was given is ignored. */
#include "cli/quant/quant_args.h"

enum dti_status dti_quant_options_check(const struct quant_args *args, struct dti_error *reterr)
{
    const char *const like = dti_quant_given(args, "division symmetry");
    const char *const range = dti_quant_given(args, "min max");
    const char *const one = dti_quant_given(args, "scale min max");
    const bool grouped = args->per_given ? args->rules.per == DTI_PER_GROUP : args->block_given;
    const bool channels =
        args->per_given ? args->rules.per == DTI_PER_CHANNEL : args->axis && !args->block_given;
    if (args->like_given && like)
        return dti_fail(reterr, DTI_USAGE, "--like sets all rules; leave out --%s", like);
    if (args->rules.symmetric && args->rules.affine)
        return dti_fail(reterr, DTI_USAGE,
                        "--symmetric and --affine exclude each other; give one of them");
    if (args->symmetry_given && args->rules.affine)
        return dti_fail(reterr, DTI_USAGE,
                        "--symmetry is of symmetric quantization; leave out --affine");
    if (args->scale && range)
        return dti_fail(reterr, DTI_USAGE, "--scale and a range exclude each other; leave out --%s",
                        range);
    if (args->scale && args->rules.affine)
        return dti_fail(reterr, DTI_USAGE, "--scale comes with --zero-point; leave out --affine");
    if (args->zero_point && !args->scale)
        return dti_fail(reterr, DTI_USAGE,
                        "--zero-point needs --scale; from a range both are computed");
    if (args->zero_point && (args->rules.symmetric || args->symmetry_given))
        return dti_fail(reterr, DTI_USAGE,
                        "the zero point of symmetric quantization is in the middle; leave out "
                        "--zero-point or --symmetric");
    if (args->per_given && grouped && !args->block_given)
        return dti_fail(reterr, DTI_USAGE, "--per block needs --block N, as in --block 128");
    if (args->block_given && !grouped)
        return dti_fail(reterr, DTI_USAGE, "--block makes scales per block; leave out --per %s",
                        channels ? "channel" : "tensor");
    if (args->per_given && args->rules.per == DTI_PER_TENSOR && args->axis)
        return dti_fail(reterr, DTI_USAGE, "one scale has no axis; leave out --axis or --per");
    if (one && args->block_given)
        return dti_fail(reterr, DTI_USAGE, "--%s is of the whole tensor; leave out --block", one);
    if (one && channels)
        return dti_fail(reterr, DTI_USAGE, "--%s is of the whole tensor; leave out %s", one,
                        args->per_given ? "--per channel" : "--axis");
    return DTI_OK;
}

enum dti_status dti_quant_options_fit(const struct quant_args *args,
                                      const struct dti_quant_target *targets, size_t count,
                                      struct dti_error *reterr)
{
    static const struct {
        const char *options;
        unsigned families; /* of dtypes that the options are for */
        const char *takers, *remedy;
    } fits[] = {
        {"min max scale block per", DTI_FAMILY_AFFINE, "integers and scaled floats",
         "its blocks have scales of their own"},
        {"zero-point", DTI_FAMILY_INTEGER, "integers", "its zero is zero"},
        {"symmetric symmetry affine", DTI_FAMILY_INTEGER, "integers", "leave it out"},
        {"division", DTI_FAMILY_AFFINE | DTI_FAMILY_NV | DTI_FAMILY_NF,
         "integers, scaled floats, nvfp4 and nf4", "its own rule settles how it divides"},
        {"like", DTI_FAMILY_AFFINE | DTI_FAMILY_NV | DTI_FAMILY_NF,
         "integers, scaled floats, nvfp4 and nf4", "leave it out"},
        {"mx-scale", DTI_FAMILY_MX, "the MX formats", "leave it out"},
        {"tensor-scale", DTI_FAMILY_NV, "nvfp4", "leave it out"},
    };
    unsigned families = 0;
    bool narrow = false, blocks = args->block_given;
    for (size_t i = 0; i < count; i++) {
        families |= dti_quant_family(&targets[i]);
        narrow = narrow || targets[i].code.width < 8;
        blocks = blocks || targets[i].scheme.block;
    }
    for (size_t i = 0; i < sizeof fits / sizeof *fits; i++) {
        const char *const option = dti_quant_given(args, fits[i].options);
        if (option && !(families & fits[i].families))
            return dti_fail(reterr, DTI_USAGE, "--%s is for %s, not for %s; %s", option,
                            fits[i].takers, targets[0].name, fits[i].remedy);
    }
    if (args->nibble_given && !narrow)
        return dti_fail(reterr, DTI_USAGE,
                        "--nibble is for codes of less than 8 bits; %s has %u: leave it out",
                        targets[0].name, (unsigned)targets[0].code.width);
    if (args->pad && !blocks)
        return dti_fail(reterr, DTI_USAGE, "--pad is for blocks; give --block N, or leave it out");
    return DTI_OK;
}
