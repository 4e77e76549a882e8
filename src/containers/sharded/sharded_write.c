/* SPDX-License-Identifier: MIT
 *
 * Writes the index of a sharded checkpoint like transformers: sorted, with an indent of two spaces.
 */
#include <stdlib.h>
#include <string.h>

#include "containers/containers.h"
#include "containers/json_quoted.h"
#include "core/number/spell.h"
#include "util/checked.h"
#include "util/run/allocate.h"
#include "util/text/utf8.h"

struct shard_row {
    const struct dti_new_tensor *tensor;
    const char *shard;
};

static int compare_rows(const void *a, const void *b)
{
    const struct dti_new_tensor *const one = ((const struct shard_row *)a)->tensor;
    const struct dti_new_tensor *const other = ((const struct shard_row *)b)->tensor;
    const size_t common =
        one->name_length < other->name_length ? one->name_length : other->name_length;
    const int bytes = common > 0 ? memcmp(one->name, other->name, common) : 0;
    return bytes != 0 ? bytes : (one->name_length > common) - (other->name_length > common);
}

static enum dti_status fail_row(const struct shard_row *row, const char *problem,
                                struct dti_error *reterr)
{
    char name[DTI_QUOTE_SIZE];
    dti_fail(reterr, DTI_BAD_INPUT, "tensor %s %s",
             dti_quote(name, row->tensor->name, row->tensor->name_length), problem);
    dti_error_argument(reterr, row->tensor->name, row->tensor->name_length);
    return DTI_BAD_INPUT;
}

static enum dti_status check_rows(const struct shard_row *rows, size_t count, uint64_t *ret_bytes,
                                  struct dti_error *reterr)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        if (!dti_utf8_valid(rows[i].tensor->name, rows[i].tensor->name_length))
            return fail_row(&rows[i], "has a name that is not UTF-8, which JSON cannot hold",
                            reterr);
        if (i > 0 && compare_rows(&rows[i - 1], &rows[i]) == 0)
            return fail_row(&rows[i], "occurs twice", reterr);
        if (!dti_add_u64(bytes, rows[i].tensor->bytes, &bytes))
            return fail_row(&rows[i], "brings the total size beyond 64 bits", reterr);
    }
    *ret_bytes = bytes;
    return DTI_OK;
}

static void write_rows(struct dti_buffer *text, const struct shard_row *rows, size_t count,
                       uint64_t bytes)
{
    char number[DTI_TEXT_SIZE];
    dti_buffer_puts(text, "{\n  \"metadata\": {\n    \"total_size\": ");
    dti_buffer_append(text, number, dti_spell_u64(number, bytes));
    dti_buffer_puts(text, "\n  },\n  \"weight_map\": {");
    for (size_t i = 0; i < count; i++) {
        dti_buffer_puts(text, i > 0 ? ",\n    " : "\n    ");
        (void)dti_json_quoted(text, rows[i].tensor->name, rows[i].tensor->name_length);
        dti_buffer_puts(text, ": ");
        (void)dti_json_quoted(text, rows[i].shard, strlen(rows[i].shard));
    }
    dti_buffer_puts(text, count > 0 ? "\n  }\n}\n" : "}\n}\n");
}

enum dti_status dti_sharded_index(const struct dti_new_tensor *tensors, const char *const *shard,
                                  size_t count, struct dti_buffer *ret, struct dti_error *reterr)
{
    struct shard_row *const rows = dti_calloc(count > 0 ? count : 1, sizeof *rows);
    if (!rows)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < count; i++)
        rows[i] = (struct shard_row){.tensor = &tensors[i], .shard = shard[i]};
    if (count > 1)
        qsort(rows, count, sizeof *rows, compare_rows);
    uint64_t bytes = 0;
    enum dti_status status = check_rows(rows, count, &bytes, reterr);
    if (status == DTI_OK)
        write_rows(ret, rows, count, bytes);
    dti_free(rows);
    if (status == DTI_OK && ret->failed)
        status = dti_no_memory(reterr);
    return status;
}
