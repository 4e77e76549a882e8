/* SPDX-License-Identifier: MIT
 *
 * Whether the tensors of a safetensors header fill the data from its start without holes, each
 * with as many bytes as its shape needs: the reference's checks in the reference's order, and names
 * that occur twice before them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "containers/name_order.h"
#include "containers/safetensors_parts.h"
#include "dtinfo/checked.h"

const char *dti_safetensors_spell(char buffer[DTI_SHAPE_TEXT_SIZE], const char *type,
                                  const uint64_t *shape, unsigned rank)
{
    enum { SHOWN = 8 };
    const unsigned shown = rank > SHOWN ? SHOWN : rank;
    int used = snprintf(buffer, DTI_SHAPE_TEXT_SIZE, "%s[", type);
    for (unsigned i = 0; i < shown; i++)
        used += snprintf(buffer + used, DTI_SHAPE_TEXT_SIZE - (size_t)used, "%s%" PRIu64,
                         i > 0 ? "," : "", shape[i]);
    snprintf(buffer + used, DTI_SHAPE_TEXT_SIZE - (size_t)used, rank > SHOWN ? ",...]" : "]");
    return buffer;
}

static enum dti_status fail_offsets(struct dti_error *reterr, const char *label,
                                    const struct dti_safetensors_record *record, const char *what)
{
    char name[DTI_QUOTE_SIZE];
    return dti_fail(
        reterr, DTI_BAD_INPUT, "%s: tensor %s: data_offsets [%" PRIu64 ", %" PRIu64 "] %s", label,
        dti_quote(name, record->name, record->name_length), record->begin, record->end, what);
}

/* What the records are sorted by: data_offsets, then their order in the header. */
struct span {
    uint64_t begin, end;
    size_t record;
};

static int compare(const void *a, const void *b)
{
    const struct span *const left = a, *const right = b;
    if (left->begin != right->begin)
        return left->begin < right->begin ? -1 : 1;
    if (left->end != right->end)
        return left->end < right->end ? -1 : 1;
    return left->record < right->record ? -1 : left->record > right->record;
}

/* The records in the order of their data; NULL: memory ran out. */
static struct span *sort(struct dti_pool *scratch, const struct dti_safetensors_header *header)
{
    struct span *const spans = dti_pool_array(scratch, header->count, sizeof *spans);
    bool sorted = true; /* as most files are */
    for (size_t i = 0; spans && i < header->count; i++) {
        spans[i] = (struct span){header->records[i].begin, header->records[i].end, i};
        sorted = sorted && (i == 0 || compare(&spans[i - 1], &spans[i]) < 0);
    }
    if (!sorted)
        qsort(spans, header->count, sizeof *spans, compare);
    return spans;
}

static enum dti_status check_place(const char *label, const struct dti_safetensors_record *record,
                                   const struct dti_safetensors_record *before,
                                   struct dti_error *reterr)
{
    const uint64_t start = before ? before->end : 0;
    char name[DTI_QUOTE_SIZE], what[DTI_QUOTE_SIZE + 64];
    if (before && record->begin < start) {
        snprintf(what, sizeof what, "overlap tensor %s, which ends at %" PRIu64,
                 dti_quote(name, before->name, before->name_length), start);
        return fail_offsets(reterr, label, record, what);
    }
    if (record->begin != start) {
        snprintf(what, sizeof what, "leave a hole; they should begin at %" PRIu64, start);
        return fail_offsets(reterr, label, record, what);
    }
    if (record->end < record->begin)
        return fail_offsets(reterr, label, record, "end before they begin");
    return DTI_OK;
}

/* "tensor 'a': F32[2,3] WHAT" */
static enum dti_status fail_shape(struct dti_error *reterr, const char *label,
                                  const struct dti_safetensors_record *record, const char *what)
{
    char name[DTI_QUOTE_SIZE], type[DTI_SHAPE_TEXT_SIZE];
    return dti_fail(reterr, DTI_BAD_INPUT, "%s: tensor %s: %s %s", label,
                    dti_quote(name, record->name, record->name_length),
                    dti_safetensors_spell(type, record->type, record->shape, record->rank), what);
}

static enum dti_status check_size(const char *label, const struct dti_safetensors_record *record,
                                  uint64_t *ret_elements, struct dti_error *reterr)
{
    const unsigned width = dti_safetensors_bits(record->format);
    const uint64_t held = record->end - record->begin;
    uint64_t elements = 1, bits;
    bool fits = true;
    for (unsigned i = 0; fits && i < record->rank; i++)
        fits = dti_mul_u64(elements, record->shape[i], &elements);
    if (!fits || !dti_mul_u64(elements, width, &bits))
        return fail_shape(reterr, label, record, "takes more bits than 64 bits can count");
    char what[DTI_SHAPE_TEXT_SIZE + 64], type[DTI_SHAPE_TEXT_SIZE];
    if (bits % 8 != 0) {
        snprintf(what, sizeof what, "takes %" PRIu64 " bits, which are no whole bytes", bits);
        return fail_shape(reterr, label, record, what);
    }
    if (held != bits / 8) {
        snprintf(what, sizeof what, "hold %" PRIu64 " byte%s but %s needs %" PRIu64, held,
                 held == 1 ? "" : "s",
                 dti_safetensors_spell(type, record->type, record->shape, record->rank), bits / 8);
        return fail_offsets(reterr, label, record, what);
    }
    *ret_elements = elements;
    return DTI_OK;
}

static enum dti_status fail_twice(struct dti_error *reterr, const char *label, const char *what,
                                  const char *name, size_t length)
{
    char quoted[DTI_QUOTE_SIZE];
    return dti_fail(reterr, DTI_BAD_INPUT, "%s: %s %s occurs twice", label, what,
                    dti_quote(quoted, name, length));
}

static enum dti_status check_duplicates(const char *label,
                                        const struct dti_safetensors_header *header,
                                        struct dti_error *reterr)
{
    const struct dti_metadata *const metadata = header->metadata;
    const struct dti_safetensors_record *const records = header->records;
    struct dti_name_order order;
    size_t found;
    if (!dti_name_order_init(&order, header->metadata_count))
        return dti_no_memory(reterr);
    for (size_t i = 0; i < header->metadata_count; i++)
        dti_name_order_add(&order, metadata[i].key, metadata[i].key_length);
    dti_name_order_sort(&order);
    const bool in_metadata = dti_name_order_repeated(&order, &found);
    dti_name_order_free(&order);
    if (in_metadata)
        return fail_twice(reterr, label, "metadata", metadata[found].key,
                          metadata[found].key_length);

    if (!dti_name_order_init(&order, header->count))
        return dti_no_memory(reterr);
    for (size_t i = 0; i < header->count; i++)
        dti_name_order_add(&order, records[i].name, records[i].name_length);
    dti_name_order_sort(&order);
    const bool in_tensors = dti_name_order_repeated(&order, &found);
    dti_name_order_free(&order);
    if (in_tensors)
        return fail_twice(reterr, label, "tensor", records[found].name, records[found].name_length);
    return DTI_OK;
}

enum dti_status dti_safetensors_header_check(struct dti_pool *scratch, const char *label,
                                             const struct dti_safetensors_header *header,
                                             struct dti_safetensors_place **ret, uint64_t *ret_size,
                                             struct dti_error *reterr)
{
    const size_t count = header->count;
    const struct span *const spans = sort(scratch, header);
    struct dti_safetensors_place *const places = dti_pool_array(scratch, count, sizeof *places);
    if (!spans || !places)
        return dti_no_memory(reterr);
    enum dti_status status = check_duplicates(label, header, reterr);
    if (status != DTI_OK)
        return status;
    const struct dti_safetensors_record *before = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct dti_safetensors_record *const record = &header->records[spans[i].record];
        status = check_place(label, record, before, reterr);
        if (status == DTI_OK)
            status = check_size(label, record, &places[i].elements, reterr);
        if (status != DTI_OK)
            return status;
        places[i].record = spans[i].record;
        before = record;
    }
    *ret = places;
    *ret_size = before ? before->end : 0;
    return DTI_OK;
}
