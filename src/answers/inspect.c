/* SPDX-License-Identifier: MIT
 *
 * The contents of files as JSON. Tensors are written as they are built, so memory does not grow
 * with their number. */
#include "answers/inspect.h"

#include <math.h>
#include <string.h>

#include "answers/common.h"
#include "answers/part_words.h"
#include "answers/rows.h"
#include "answers/tensors.h"

DTI_WORDS(sort_words, "file", "name", "size", "elements", "dtype", "offset")
DTI_WORDS(order_words, "row-major", "fortran", "strided")
DTI_WORDS(endian_words, "little", "big")
DTI_WORDS(packing_words, "low", "high", "bytes")
DTI_WORDS(part_words, DTI_PART_WORDS)
DTI_WORDS(metadata_words, "string", "token", "array")

struct file_of {
    const struct dti_inspect_request *request;
    const struct dti_inspect_file *file;
    FILE *out;
};

struct tensor_of {
    const struct dti_inspect_report *report;
    size_t at; /* of those shown */
};

/* Of a quantized tensor. */
struct stored_part_of {
    const struct dti_tensor *tensor;
    size_t part; /* enum dti_quant_part */
};

struct shard_of {
    const struct dti_inspect_report *report;
    const struct dti_inspect_shard *shard;
};

struct figures_of {
    const struct dti_inspect_figures *figures;
    const struct dti_tensor *tensor;
};

/* The losses of a cast. */
struct cast_of {
    const char *to;
    uint64_t nonzero;
    const struct dti_loss_summary *loss;
};

static const struct dti_loss_summary *loss_of(const struct tensor_of *of, size_t as)
{
    return &of->report->losses[of->at * of->report->request->reading.as_count + as];
}

struct binade_of {
    int64_t exponent;
    uint64_t count;
};

struct range_of {
    const struct dti_inspect_histogram *histogram;
    size_t range;
};

/* An extreme as a code of a dtype, and where it is. */
struct extreme {
    const struct dti_format *format;
    uint64_t code;
    struct dti_place place;
};

static struct extreme extreme_of(bool there, const struct dti_inspect_extreme *of, bool magnitude)
{
    struct extreme extreme = {.format = NULL};
    if (there) {
        extreme.format = dti_inspect_extreme_format(of->tensor, magnitude);
        extreme.code = of->code;
        extreme.place = dti_place_start(of->tensor, of->index);
    }
    return extreme;
}

static size_t list_fits(const struct dti_inspect_figures *figures,
                        const char *ret[DTI_INSPECT_LADDER])
{
    size_t count = 0;
    for (unsigned i = 0; i < DTI_INSPECT_LADDER; i++) {
        if (figures->fits >> i & 1)
            ret[count++] = dti_format_get(dti_inspect_ladder[i])->name;
    }
    return count;
}

/* The digest of a file; NULL if not requested. */
static const char *digest_of(char buffer[DTI_DIGEST_TEXT], const struct dti_inspect_report *report,
                             size_t file)
{
    const bool there = report->digests && file < dti_digest_count(report->container);
    return there ? dti_digest_spell(buffer, &report->digests[file]) : NULL;
}

struct note {
    const char *code, *message;
    char text[DTI_SCALED_CODES_TEXT], words[DTI_REMEDY_WORDS];
};

static size_t count_notes(const struct dti_inspect_report *report)
{
    return report->container->note_count + (report->scaled.count > 0 ? 1 : 0);
}

static const struct note *note_of(struct note *note, const struct dti_inspect_report *report,
                                  size_t at)
{
    const struct dti_container *const container = report->container;
    const struct dti_note said = at < container->note_count
                                     ? container->notes[at]
                                     : dti_scaled_codes_note(&report->scaled, note->text);
    note->code = said.code;
    note->message = report->request->words(note->words, said.remedy, said.text);
    return note;
}

#define DTI_ROWS "answers/inspect.def"
#include "answers/rows.h"
