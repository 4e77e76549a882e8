/* SPDX-License-Identifier: MIT
 *
 * Whether the tensors of a safetensors header fill the data from its start without holes, each
 * with as many bytes as its shape needs: the reference's checks in the reference's order, and names
 * that occur twice before them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "containers/safetensors.h"

/* "F32[2,3]", a long shape cut. */
enum { SHAPE_TEXT = 256 };
static const char *spell(char buffer[SHAPE_TEXT], const struct dti_safetensors_record *record)
{
    enum { SHOWN = 8 };
    const unsigned shown = record->rank > SHOWN ? SHOWN : record->rank;
    int used = snprintf(buffer, SHAPE_TEXT, "%s[", record->type);
    for (unsigned i = 0; i < shown; i++)
        used += snprintf(buffer + used, SHAPE_TEXT - (size_t)used, "%s%" PRIu64, i > 0 ? "," : "",
                         record->shape[i]);
    snprintf(buffer + used, SHAPE_TEXT - (size_t)used, record->rank > SHOWN ? ",...]" : "]");
    return buffer;
}

static struct dti_subject the(const struct dti_safetensors_record *record)
{
    return (struct dti_subject){.what = "tensor", record->name, record->name_length};
}

static bool fail_offsets(struct dti_opening *opening, const struct dti_safetensors_record *record,
                         const char *what)
{
    return dti_opening_refuse_of(opening, the(record),
                                 ": data_offsets [%" PRIu64 ", %" PRIu64 "] %s", record->begin,
                                 record->end, what);
}

/* By data_offsets, then in the order of the header. */
static int compare(const void *a, const void *b)
{
    const struct dti_safetensors_record *const left = a, *const right = b;
    if (left->begin != right->begin)
        return left->begin < right->begin ? -1 : 1;
    if (left->end != right->end)
        return left->end < right->end ? -1 : 1;
    return left->place < right->place ? -1 : left->place > right->place;
}

static void sort(const struct dti_safetensors_header *header)
{
    bool sorted = true; /* as most files are */
    for (size_t i = 1; sorted && i < header->count; i++)
        sorted = compare(&header->records[i - 1], &header->records[i]) < 0;
    if (!sorted)
        qsort(header->records, header->count, sizeof *header->records, compare);
}

static bool check_place(struct dti_opening *opening, const struct dti_safetensors_record *record,
                        const struct dti_safetensors_record *before)
{
    const uint64_t start = before ? before->end : 0;
    char name[DTI_QUOTE_SIZE], what[DTI_QUOTE_SIZE + 64];
    if (before && record->begin < start) {
        snprintf(what, sizeof what, "overlap tensor %s, which ends at %" PRIu64,
                 dti_quote(name, before->name, before->name_length), start);
        return fail_offsets(opening, record, what);
    }
    if (record->begin != start) {
        snprintf(what, sizeof what, "leave a hole; they should begin at %" PRIu64, start);
        return fail_offsets(opening, record, what);
    }
    return record->end >= record->begin || fail_offsets(opening, record, "end before they begin");
}

static bool check_size(struct dti_opening *opening, struct dti_safetensors_record *record)
{
    const uint64_t held = record->end - record->begin;
    uint64_t bits;
    char what[SHAPE_TEXT + 64], type[SHAPE_TEXT];
    if (!dti_safetensors_measure(record->format, record->shape, record->rank, &record->elements,
                                 &bits))
        return dti_opening_refuse_of(opening, the(record),
                                     ": %s takes more bits than 64 bits can count",
                                     spell(type, record));
    if (bits % 8 != 0)
        return dti_opening_refuse_of(opening, the(record),
                                     ": %s takes %" PRIu64 " bits, which are no whole bytes",
                                     spell(type, record), bits);
    if (held == bits / 8)
        return true;
    snprintf(what, sizeof what, "hold %" PRIu64 " byte%s but %s needs %" PRIu64, held,
             held == 1 ? "" : "s", spell(type, record), bits / 8);
    return fail_offsets(opening, record, what);
}

bool dti_safetensors_header_check(struct dti_opening *opening,
                                  struct dti_safetensors_header *header)
{
    struct dti_safetensors_record *const records = header->records;
    const struct dti_container *const container = opening->container;
    const size_t start = header->metadata_start, count = container->metadata_count - start;
    if (!dti_opening_check_names(opening, count > 0 ? &container->metadata[start] : NULL, count,
                                 DTI_NAMED(struct dti_metadata, key),
                                 (struct dti_subject){.what = "metadata"}, " occurs twice") ||
        !dti_opening_check_names(opening, records, header->count,
                                 DTI_NAMED(struct dti_safetensors_record, name),
                                 (struct dti_subject){.what = "tensor"}, " occurs twice"))
        return false;
    sort(header);
    for (size_t i = 0; i < header->count; i++) {
        if (!check_place(opening, &records[i], i > 0 ? &records[i - 1] : NULL) ||
            !check_size(opening, &records[i]))
            return false;
    }
    return true;
}
