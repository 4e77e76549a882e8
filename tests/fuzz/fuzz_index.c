/* SPDX-License-Identifier: MIT
 *
 * Indexes of sharded checkpoints. Any text gives a one-line error, or file names that stay in the
 * folder and each tensor once. The index written for them must read back the same. */
#include <stdlib.h>
#include <string.h>

#include "containers/sharded/sharded.h"
#include "fuzz.h"

const char *const dti_fuzz_words[] = {
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\u0061",
    "\\ud800",
    "null",
    "1",
    "-0",
    "1e9",
    " ",
    "\n",
    "\"a\"",
    "\"b\"",
    "\"weight_map\"",
    "\"x\"",
    "\"../x\"",
    "\"/x\"",
    "\"a..b\"",
    "\"\"",
    "\"metadata\"",
    "\"total_size\":5",
    "\"total_parameters\":6",
    "\"a\":\"x\"",
    ",\"b\":\"y\"",
    ",\"c\":\"x\"",
    "{\"weight_map\":{",
    "{\"metadata\":{},\"weight_map\":{",
    "}}",
    "\"a\\\\b\"",
    "\xc3\xa9",
    "\xff",
    "\"metadata\":null,",
    NULL,
};

static bool same_text(const char *a, size_t a_length, const char *b, size_t b_length)
{
    return a_length == b_length && (a_length == 0 || memcmp(a, b, a_length) == 0);
}

static void check(const struct dti_shards *shards)
{
    for (size_t i = 0; i < shards->count; i++) {
        const char *const name = shards->names[i];
        REQUIRE(name[0] != '\0' && !strchr(name, '/') && !strchr(name, '\\'));
        REQUIRE(!strstr(name, "..") && strcmp(name, ".") != 0);
        REQUIRE(i == 0 || strcmp(shards->names[i - 1], name) < 0);
    }
    REQUIRE(shards->indexed && (shards->count > 0) == (shards->mapping_count > 0));
    for (size_t i = 0; i < shards->mapping_count; i++) {
        const struct dti_mapping *const mapping = &shards->mappings[i];
        REQUIRE(mapping->shard < shards->count && mapping->tensor[mapping->tensor_length] == '\0');
        for (size_t j = 0; j < i; j++)
            REQUIRE(!same_text(mapping->tensor, mapping->tensor_length, shards->mappings[j].tensor,
                               shards->mappings[j].tensor_length));
    }
}

/* Each mapping of `a` has an equal one in `b`. */
static void check_same(const struct dti_shards *a, const struct dti_shards *b)
{
    REQUIRE(a->mapping_count == b->mapping_count && a->count == b->count);
    for (size_t i = 0; i < a->mapping_count; i++) {
        const struct dti_mapping *const one = &a->mappings[i];
        size_t j = 0;
        while (j < b->mapping_count &&
               !same_text(one->tensor, one->tensor_length, b->mappings[j].tensor,
                          b->mappings[j].tensor_length))
            j++;
        REQUIRE(j < b->mapping_count);
        REQUIRE(strcmp(a->names[one->shard], b->names[b->mappings[j].shard]) == 0);
    }
}

static void check_written(struct dti_pool *pool, const struct dti_shards *shards)
{
    const size_t count = shards->mapping_count;
    struct dti_new_tensor *const tensors = calloc(count + 1, sizeof *tensors);
    const char **const names = calloc(count + 1, sizeof *names);
    struct dti_buffer text;
    struct dti_shards again;
    REQUIRE(tensors && names);
    dti_buffer_init(&text);
    for (size_t i = 0; i < count; i++) {
        tensors[i].name = shards->mappings[i].tensor;
        tensors[i].name_length = (uint32_t)shards->mappings[i].tensor_length;
        tensors[i].bytes = i;
        names[i] = shards->names[shards->mappings[i].shard];
    }
    REQUIRE(dti_sharded_index(tensors, names, count, &text, NULL) == DTI_OK);
    struct dti_opening opening = {.pool = pool, .label = "'y'"};
    REQUIRE(dti_index_parse(&opening, text.data, text.length, &again));
    REQUIRE(again.has_total_size && again.total_size == count * (count - (count > 0)) / 2);
    check_same(shards, &again);
    dti_buffer_free(&text);
    free(names);
    free(tensors);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dti_pool pool = {.chunks = NULL};
    struct dti_shards shards;
    struct dti_error error = {.status = DTI_OK};
    struct dti_opening opening = {.pool = &pool, .label = "'x'", .error = &error};
    if (dti_index_parse(&opening, (const char *)data, size, &shards)) {
        check(&shards);
        check_written(&pool, &shards);
    } else {
        REQUIRE(opening.status == DTI_BAD_INPUT && error.status == opening.status);
        REQUIRE(strncmp(error.text, "'x'", 3) == 0);
        for (const char *c = error.text; *c; c++)
            REQUIRE((unsigned char)*c >= ' ' && *c != 0x7f);
    }
    dti_pool_free(&pool);
    return 0;
}
