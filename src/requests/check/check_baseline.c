/* SPDX-License-Identifier: MIT
 *
 * Known failures, sorted by the bytes of their identities, so that those of an assertion are
 * neighbours. */
#include "requests/check/check_baseline.h"

#include <stdlib.h>
#include <string.h>

#include "io/input.h"
#include "report/json_tree.h"
#include "util/run/allocate.h"
#include "util/run/grown.h"
#include "util/run/memory_pool.h"
#include "util/text/escape.h"

enum { SIZE_MOST = 256 << 20 };

struct known {
    const char *key, *words; /* words: "model.safetensors: no-nan, 'model.norm.weight'" */
    size_t length;
    size_t count, used; /* how often it is in the baseline, and was found */
    bool looked_for;
};

struct dti_baseline {
    struct dti_pool pool;
    struct known *list;
    size_t count, capacity;
    size_t gone, at; /* how many of them are gone, before index `at` */
    struct dti_buffer key, words;
    bool failed; /* memory ran out */
};

static int compare(const char *a, size_t a_length, const char *b, size_t b_length)
{
    const int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
    return order != 0 ? order : (a_length > b_length) - (a_length < b_length);
}

static int by_key(const void *a, const void *b)
{
    const struct known *const left = a, *const right = b;
    return compare(left->key, left->length, right->key, right->length);
}

static unsigned digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* The bytes of a text that are in hexadecimal, two lower case digits each; null if they are not. */
static struct dti_spelled read_hex(struct dti_baseline *baseline, const char *text)
{
    const size_t length = strlen(text);
    if (strspn(text, "0123456789abcdef") != length)
        return dti_spelled(NULL);
    char *const bytes = dti_pool_alloc(&baseline->pool, length / 2 + 1);
    baseline->failed = baseline->failed || !bytes;
    for (size_t i = 0; bytes && i < length / 2; i++)
        bytes[i] = (char)(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
    return dti_spelled_if(bytes != NULL, bytes, length / 2);
}

/* Fills some fields of an identity from the members of an object. */
static void read_fields(struct dti_baseline *baseline, struct dti_check_identity *ret,
                        const struct dti_tree *object, size_t from, size_t end)
{
    for (size_t i = from; i < end; i++) {
        const char *const name = dti_check_field_names[i];
        const char *const hexadecimal = i == DTI_FIELD_PATH     ? "path_hex"
                                        : i == DTI_FIELD_TENSOR ? "tensor_hex"
                                                                : NULL;
        struct dti_spelled *const field = &ret->fields[i];
        const char *const text =
            hexadecimal ? dti_tree_text(dti_tree_member(object, hexadecimal)) : NULL;
        *field = dti_spelled(dti_tree_text(dti_tree_member(object, name)));
        if (text)
            *field = read_hex(baseline, text);
    }
}

/* "model.safetensors: max-error 1, as bf16, model.norm.weight" */
static void put_words(struct dti_buffer *words, const struct dti_check_identity *identity)
{
    static const char *const before[DTI_CHECK_FIELDS] = {"", ": ", " ", " as ", ": ", ": ", ": "};
    dti_buffer_clear(words);
    for (size_t i = 0; i < DTI_CHECK_FIELDS; i++) {
        const struct dti_spelled *const field = &identity->fields[i];
        if (!field->text)
            continue;
        dti_buffer_puts(words, before[i]);
        dti_escape(words, field->text, field->length);
    }
}

static enum dti_status add(struct dti_baseline *baseline, const struct dti_check_identity *identity,
                           struct dti_error *reterr)
{
    struct known *const larger =
        dti_grown(baseline->list, baseline->count, &baseline->capacity, sizeof *larger);
    if (!larger)
        return dti_no_memory(reterr);
    baseline->list = larger;
    dti_check_identity_bytes(&baseline->key, identity, DTI_CHECK_FIELDS);
    put_words(&baseline->words, identity);
    struct known known = {.length = baseline->key.length, .count = 1};
    if (!baseline->key.failed && !baseline->words.failed) {
        known.key = dti_pool_text(&baseline->pool, baseline->key.data, baseline->key.length);
        known.words = dti_pool_text(&baseline->pool, baseline->words.data, baseline->words.length);
    }
    if (!known.key || !known.words || baseline->failed)
        return dti_no_memory(reterr);
    baseline->list[baseline->count++] = known;
    return DTI_OK;
}

static enum dti_status add_all(struct dti_baseline *baseline, const struct dti_tree *document,
                               struct dti_error *reterr)
{
    struct dti_check_identity identity = {.fields = {{NULL, 0}}};
    enum dti_status status = DTI_OK;
    const struct dti_tree *const files = dti_tree_member(document, "files");
    for (const struct dti_tree *file = dti_tree_first(files); file; file = dti_tree_next(file)) {
        const struct dti_tree *assertion = dti_tree_first(dti_tree_member(file, "assertions"));
        read_fields(baseline, &identity, file, DTI_FIELD_PATH, DTI_FIELD_NAME);
        for (; assertion; assertion = dti_tree_next(assertion)) {
            const struct dti_tree *failure = dti_tree_first(dti_tree_member(assertion, "failures"));
            read_fields(baseline, &identity, assertion, DTI_FIELD_NAME, DTI_CHECK_OF_ASSERTION);
            for (; failure && status == DTI_OK; failure = dti_tree_next(failure)) {
                read_fields(baseline, &identity, failure, DTI_CHECK_OF_ASSERTION, DTI_CHECK_FIELDS);
                status = add(baseline, &identity, reterr);
            }
        }
    }
    return status;
}

/* Sorts, and joins equal ones. */
static void sort(struct dti_baseline *baseline)
{
    size_t kept = 0;
    if (baseline->count > 0)
        qsort(baseline->list, baseline->count, sizeof *baseline->list, by_key);
    for (size_t i = 0; i < baseline->count; i++) {
        if (kept > 0 && by_key(&baseline->list[kept - 1], &baseline->list[i]) == 0)
            baseline->list[kept - 1].count++;
        else
            baseline->list[kept++] = baseline->list[i];
    }
    baseline->count = kept;
}

static enum dti_status parse(struct dti_baseline *baseline, const char *label,
                             const struct dti_buffer *text, struct dti_error *reterr)
{
    struct dti_tree *tree = NULL;
    const char *problem = NULL;
    size_t at = 0;
    enum dti_status status = dti_tree_read(&tree, text->data, text->length, &problem, &at);
    if (status == DTI_NO_MEMORY)
        return dti_no_memory(reterr);
    if (status != DTI_OK)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s: %s at byte %zu; --baseline takes a document of "
                        "'dtinfo check --json'",
                        label, problem, at);
    const char *const schema = dti_tree_text(dti_tree_member(tree, "schema"));
    if (!schema || strcmp(schema, "dtinfo.check/1") != 0)
        status =
            dti_fail(reterr, DTI_BAD_INPUT,
                     "%s is not a document of 'dtinfo check --json', as --baseline takes", label);
    else
        status = add_all(baseline, tree, reterr);
    dti_tree_free(tree);
    sort(baseline);
    return status;
}

enum dti_status dti_baseline_read(struct dti_baseline **ret, const char *path,
                                  struct dti_error *reterr)
{
    struct dti_input input;
    struct dti_buffer text;
    char label[DTI_QUOTE_SIZE];
    enum dti_status status = dti_input_open(&input, path, reterr);
    if (status != DTI_OK)
        return status;
    struct dti_baseline *const baseline = dti_calloc(1, sizeof *baseline);
    dti_buffer_init(&text);
    status = baseline ? dti_input_read_all(&input, SIZE_MOST, "--baseline", &text, reterr)
                      : dti_no_memory(reterr);
    (void)dti_input_label(&input, label);
    dti_input_close(&input);
    if (baseline) {
        dti_buffer_init(&baseline->key);
        dti_buffer_init(&baseline->words);
    }
    if (status == DTI_OK)
        status = parse(baseline, label, &text, reterr);
    dti_buffer_free(&text);
    if (status == DTI_OK)
        *ret = baseline;
    else
        dti_baseline_free(baseline);
    return status;
}

void dti_baseline_free(struct dti_baseline *baseline)
{
    if (!baseline)
        return;
    dti_buffer_free(&baseline->key);
    dti_buffer_free(&baseline->words);
    dti_pool_free(&baseline->pool);
    dti_free(baseline->list);
    dti_free(baseline);
}

/* Index of the first known failure that is not below the key. */
static size_t find(const struct dti_baseline *baseline)
{
    size_t low = 0, high = baseline->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct known *const known = &baseline->list[middle];
        if (compare(known->key, known->length, baseline->key.data, baseline->key.length) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* From now on those of the assertion may be gone. */
static void look_for(struct dti_baseline *baseline, const struct dti_check_identity *assertion)
{
    const struct dti_buffer *const key = &baseline->key;
    dti_check_identity_bytes(&baseline->key, assertion, DTI_CHECK_OF_ASSERTION);
    baseline->failed = baseline->failed || baseline->key.failed;
    for (size_t i = find(baseline); i < baseline->count; i++) {
        struct known *const known = &baseline->list[i];
        if (known->length < key->length || memcmp(known->key, key->data, key->length) != 0)
            return;
        known->looked_for = true;
    }
}

enum dti_status dti_baseline_mark(void *context, struct dti_check_report *report,
                                  struct dti_error *reterr)
{
    struct dti_baseline *const baseline = context;
    struct dti_check_identity identity;
    struct dti_check_words words;
    for (size_t i = 0; i < report->request->assertion_count; i++) {
        dti_check_identify(&identity, report, i);
        look_for(baseline, &identity);
    }
    for (size_t i = 0; i < report->failure_count; i++) {
        struct dti_check_failure *const failure = &report->failures[i];
        dti_check_words(&words, report, failure);
        dti_check_identify(&identity, report, failure->assertion);
        dti_check_identify_failure(&identity, &words);
        dti_check_identity_bytes(&baseline->key, &identity, DTI_CHECK_FIELDS);
        baseline->failed = baseline->failed || baseline->key.failed;
        const size_t at = find(baseline);
        struct known *const known = at < baseline->count ? &baseline->list[at] : NULL;
        failure->known =
            known && known->used < known->count &&
            compare(known->key, known->length, baseline->key.data, baseline->key.length) == 0;
        if (failure->known)
            known->used++;
    }
    return baseline->failed ? dti_no_memory(reterr) : DTI_OK;
}

const char *dti_baseline_gone(struct dti_baseline *baseline, size_t index)
{
    if (index < baseline->gone)
        baseline->gone = baseline->at = 0;
    while (baseline->at < baseline->count) {
        const struct known *const known = &baseline->list[baseline->at++];
        if (known->looked_for && known->used < known->count && baseline->gone++ == index)
            return known->words;
    }
    return NULL;
}
