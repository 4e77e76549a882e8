/* SPDX-License-Identifier: MIT
 *
 * The options of quant, and the requested dtypes with the options applied to each: every given
 * option has an effect or is an error. */
#include <string.h>

#include "core/block/quant_parts.h"
#include "requests/option_rows.h"
#include "requests/quant/quant_args.h"
#include "util/run/allocate.h"

#define CHOICE(value_, name_, help_) {.name = name_, .value = value_, .help = help_},

static const struct dti_choice symmetry_choices[] = {DTI_QUANT_SYMMETRIES(CHOICE){.name = NULL}};
static const struct dti_choice division_choices[] = {DTI_QUANT_DIVISIONS(CHOICE){.name = NULL}};
static const struct dti_choice like_choices[] = {
    DTI_QUANT_LIKES(CHOICE){"vllm", DTI_QUANT_LIKE_VLLM, "with --dequant, " DTI_LIKE_VLLM_HELP},
    {"pytorch", DTI_QUANT_LIKE_TORCH, ""},
    {.name = NULL}};
static const struct dti_choice mx_scale_choices[] = {DTI_QUANT_MX_SCALES(CHOICE){.name = NULL}};
static const struct dti_choice nv_scale_choices[] = {DTI_QUANT_NV_SCALES(CHOICE){.name = NULL}};
static const struct dti_choice packing_choices[] = {DTI_QUANT_ORDERS(CHOICE){.name = NULL}};
static const struct dti_choice tensor_scale_choices[] = {
    DTI_QUANT_TENSOR_SCALES(CHOICE){.name = NULL}};

static const struct dti_choice per_choices[] = {DTI_QUANT_PERS(CHOICE){.name = NULL}};

static const struct dti_choice event_choices[] = {
    {"clipped", DTI_QUANT_CLIPPED, "a number lies beyond the range of codes"},
    {"special", DTI_QUANT_SPECIAL, "there is a NaN or an infinity"},
    {"inexact", DTI_QUANT_INEXACT, "a dequantized number differs from the given one"},
    {.name = NULL},
};

static const struct dti_choice layout_choices[] = {
#define QUANT_LAYOUT(id, name_, help_, ...) \
    {.name = name_, .value = DTI_LAYOUT_##id, .help = help_},
#include "files/stored/quant_layouts.def"
#undef QUANT_LAYOUT
    {.name = NULL},
};

static const struct dti_choice as_choices[] = {
#define ARRAY_FORM(...)
#define FORM(id, word, kind, what, several) {word, DTI_AS_##id, several},
#include "requests/rewrite/file_forms.def"
#undef ARRAY_FORM
#undef FORM
    {.name = NULL},
};

_Static_assert(offsetof(struct quant_args, recipe) == 0,
               "the rows below are those of recipes in words, too");
const struct dti_option dti_quant_options[] = {
    OPT_TEXT(0, "min", struct quant_args, recipe.min, "VALUE",
             "lowest number of the range (default that of the values)"),
    OPT_TEXT(0, "max", struct quant_args, recipe.max, "VALUE", "highest number of the range"),
    OPT_TEXT(0, "scale", struct quant_args, recipe.scale, "VALUE",
             "use this scale instead of one from the range", .matters = true),
    OPT_TEXT(0, "zero-point", struct quant_args, recipe.zero_point, "N",
             "with --scale: the code of zero (default 0)"),
    OPT_FLAG(0, "symmetric", struct quant_args, recipe.rules.symmetric,
             "zero point in the middle (the default for int dtypes)"),
    OPT_FLAG(0, "affine", struct quant_args, recipe.rules.affine,
             "a zero point that fits the range (the default for uint dtypes)"),
    OPT_CHOICE(0, "symmetry", struct quant_args, recipe.rules.symmetry, recipe.symmetry_given,
               "RULE", symmetry_choices, "how a symmetric scale is computed"),
    OPT_CHOICE(0, "division", struct quant_args, recipe.rules.division, recipe.division_given,
               "RULE", division_choices, "how numbers are divided by the scale"),
    OPT_CHOICE(0, "like", struct quant_args, recipe.rules.like, recipe.quant_like_given, "STACK",
               like_choices, "set division, symmetry, zero point and specials as this stack does",
               .matters = true, DTI_MORE(.of_models = "template")),
    OPT_CHOICE(0, "mx-scale", struct quant_args, recipe.rules.mx_scale, recipe.mx_scale_given,
               "RULE", mx_scale_choices,
               "MX formats: how the power of two of a block's scale is chosen"),
    OPT_CHOICE(0, "nv-scale", struct quant_args, recipe.rules.nv_scale, recipe.nv_scale_given,
               "RULE", nv_scale_choices, "how the scale of a block of nvfp4 is chosen"),
    OPT_LIST(0, "tensor-scale", struct quant_args, recipe.tensor_scale, "VALUE",
             tensor_scale_choices,
             "scale of the whole tensor in nvfp4: a number, auto, own or none"),
    DTI_ROW_FUSED(struct quant_args, recipe.fused, "files: in nvfp4, "),
    OPT_CHOICE(0, "per", struct quant_args, recipe.rules.per, recipe.per_given, "WHAT", per_choices,
               "integers and floats: what has a scale of its own"),
    OPT_UINT(0, "block", struct quant_args, recipe.rules.block, recipe.block_given, 1,
             DTI_QUANT_GROUP_MAX, "N",
             "integers and floats: one scale per N neighbours; with --dequant and to gguf: the "
             "block length",
             .matters = true),
    OPT_TEXT(0, "axis", struct quant_args, recipe.axis, "N",
             "files: the axis of blocks (the last) or channels (0); -1 is the last"),
    OPT_FLAG(0, "pad", struct quant_args, recipe.pad, "files: pad rows with zeros to whole blocks",
             .matters = true),
    OPT_CHOICE(0, "packing", struct quant_args, recipe.rules.order, recipe.order_given, "PACKING",
               packing_choices, "packing of codes of less than 8 bits",
               DTI_MORE(.alias = "nibble")),
    DTI_ROW_FAIL_ON(struct quant_args, fail_on, event_choices),
    DTI_ROW_INPUT(struct quant_args, transfer.input, "the file to read", "a number"),
    DTI_ROW_OUTPUT(struct quant_args, transfer.output, "files: the file to write"),
    DTI_ROW_AS(struct quant_args, transfer.as, as_choices, "files: output format"),
    DTI_ROW_FORCE(struct quant_args, transfer.force, "files: "),
    OPT_CHOICE(0, "layout", struct quant_args, recipe.layout, recipe.layout_given, "LAYOUT",
               layout_choices, "files: names and storage of codes and scales"),
    OPT_FLAG(0, "nested-absmax", struct quant_args, recipe.nested,
             "files: with --layout bitsandbytes, quantize the scales to 8 bits too",
             DTI_MORE(.alias = "double-quant")),
    OPT_UINT(0, "convrot", struct quant_args, recipe.convrot, recipe.convrot_given, 16, 256,
             "COLUMNS",
             "files: with --layout comfy, rotate int8 and int4 in groups of 16, 64 or 256 columns"),
    OPT_FLAG(0, "dequant", struct quant_args, recipe.dequant,
             "files: dequantize to floats of DTYPE", .matters = true),
    OPT_UINT(0, "bits", struct quant_args, bits, bits_given, 1, 16, "N",
             "files: with --dequant and to gguf, codes have N bits, overriding config.json"),
    OPT_GLOB(0, "quant-only", struct quant_args, tensors.only, "GLOB,...",
             "files: quantize only these tensors, keep the others", DTI_MORE(.alias = "only")),
    OPT_GLOB(0, "type", struct quant_args, types, "GLOB=TYPE,...",
             "files: dtypes of these tensors, in gguf also fp32, fp16 or bf16; the first that fits "
             "counts"),
    OPT_FILE(0, "plan", struct quant_args, plan, "FILE",
             "files: quantize each tensor as this plan of 'dtinfo advise -o' says"),
    OPT_FILE(0, "imatrix", struct quant_args, importance, "FILE",
             "gguf: weight errors by this importance matrix of llama.cpp"),
    DTI_ROW_KEEP(struct quant_args, tensors.keep),
    DTI_ROW_SELECT(struct quant_args, tensors.select),
    DTI_ROW_ALLOW_UNMATCHED(struct quant_args, tensors.allow_unmatched),
    DTI_ROW_NO_COPY(struct quant_args, tensors.no_copy),
    DTI_ROW_ASSUME(struct quant_args, tensors.assume),
    DTI_ROW_LENIENT(struct quant_args, tensors.lenient),
    DTI_ROW_DRY_RUN(struct quant_args, tensors.dry_run),
    DTI_ROW_TEMPLATE(struct quant_args, tensors.model),
    DTI_ROW_SET(struct quant_args, tensors.set),
    DTI_ROW_SET_FROM(struct quant_args, tensors.set_from),
    DTI_ROW_SHARD_SIZE(struct quant_args, tensors.shard_size),
    DTI_ROW_PART(struct quant_args, tensors.part),
    DTI_ROW_FINISH(struct quant_args, tensors.finish),
    DTI_ROW_CHECK_PARTS(struct quant_args, tensors.check_parts),
    DTI_ROW_THREADS(struct quant_args, transfer.threads, "files: threads"),
    DTI_ROW_MAX_MEMORY(struct quant_args, tensors.max_memory, "files: ", ""),
    DTI_ROW_PROGRESS(struct quant_args, transfer.progress,
                     "files: show a progress bar on standard error"),
    OPT_END,
};

const char *dti_quant_given(const struct quant_args *args, const char *names)
{
    return dti_option_given(dti_quant_options, args, names);
}

struct targets {
    const struct dti_asker *asker;
    struct dti_quant_target *list;
    size_t count;
};

static enum dti_status add_cast(void *context, const char *name, struct dti_error *reterr)
{
    struct targets *const targets = context;
    struct dti_quant_target *const target = &targets->list[targets->count];
    if (targets->count == QUANT_TARGETS_MAX)
        return dti_fail(reterr, DTI_USAGE, "at most %d dtypes at once", QUANT_TARGETS_MAX);
    const enum dti_status status = dti_quant_target_find(target, name, reterr);
    targets->count += status == DTI_OK;
    if (status == DTI_OK && target->note)
        dti_asker_warn(targets->asker,
                       &(struct dti_note){.code = "dtype_name", .text = target->note});
    return status;
}

enum dti_status dti_quant_targets_read(const struct quant_args *args, const struct dti_asker *asker,
                                       const char *names, struct dti_quant_target **ret_list,
                                       size_t *ret_count, struct dti_error *reterr)
{
    enum dti_status status = dti_recipe_check(&args->recipe, "--", reterr);
    if (status != DTI_OK)
        return status;
    struct dti_quant_target *const list = dti_calloc(QUANT_TARGETS_MAX, sizeof *list);
    struct targets targets = {.asker = asker, .list = list};
    if (!list)
        return dti_no_memory(reterr);
    status = dti_each_dtype(names, add_cast, &targets, reterr);
    if (status == DTI_OK)
        status = dti_recipe_fit(&args->recipe, list, targets.count, "--", reterr);
    for (size_t i = 0; i < targets.count && status == DTI_OK; i++)
        status = dti_recipe_settle(&list[i], &args->recipe, reterr);
    if (status != DTI_OK) {
        dti_free(list);
        return status;
    }
    *ret_list = list;
    *ret_count = targets.count;
    return DTI_OK;
}
