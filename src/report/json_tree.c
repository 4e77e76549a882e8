/* SPDX-License-Identifier: MIT
 *
 * JSON trees, parsed by cJSON. It only sees documents that the strict parser accepted. */
#include "report/json_tree.h"

#include <cjson/cJSON.h>
#include <string.h>

#include "report/json.h"
#include "util/json/json_read.h"

const char *dti_json_library_version(void)
{
    return cJSON_Version();
}

/* Whether cJSON may parse the document; if not, *ret_problem says why, or is NULL when out of
 * memory. */
static bool is_good(struct dti_json_reader *reader, const char **ret_problem)
{
    enum dti_json_token token = DTI_JSON_NULL;
    size_t values = 0;
    *ret_problem = NULL;
    while (token != DTI_JSON_END && !*ret_problem) {
        if (!dti_json_next(reader, &token)) {
            *ret_problem = reader->problem;
            return false;
        }
        values += token != DTI_JSON_KEY;
        if (token == DTI_JSON_NUMBER && reader->token_length > DTI_TREE_DIGITS)
            *ret_problem = "a number is too long";
        else if (values > DTI_TREE_VALUES)
            *ret_problem = "there are too many values";
    }
    return !*ret_problem;
}

enum dti_status dti_tree_read(struct cJSON **ret, const char *text, size_t length,
                              const char **ret_problem, size_t *ret_at)
{
    struct dti_json_reader reader;
    const char *problem;
    dti_json_reader_init(&reader, text, length);
    const bool good = is_good(&reader, &problem);
    const size_t at = (size_t)(reader.at - reader.start);
    dti_json_reader_free(&reader);
    struct cJSON *const tree = good ? cJSON_ParseWithLength(text, length) : NULL;
    if (tree) {
        *ret = tree;
        return DTI_OK;
    }
    if (!problem)
        return DTI_NO_MEMORY;
    *ret_problem = problem;
    *ret_at = at;
    return DTI_BAD_INPUT;
}

void dti_tree_free(struct cJSON *tree)
{
    cJSON_Delete(tree);
}

const struct cJSON *dti_tree_member(const struct cJSON *object, const char *key)
{
    const struct cJSON *found = NULL;
    if (!cJSON_IsObject(object))
        return NULL;
    for (const struct cJSON *member = object->child; member; member = member->next) {
        if (strcmp(member->string, key) == 0)
            found = member;
    }
    return found;
}

const struct cJSON *dti_tree_first(const struct cJSON *array)
{
    return cJSON_IsArray(array) ? array->child : NULL;
}

const struct cJSON *dti_tree_next(const struct cJSON *element)
{
    return element->next;
}

const char *dti_tree_text(const struct cJSON *value)
{
    return cJSON_IsString(value) ? value->valuestring : NULL;
}

double dti_tree_number(const struct cJSON *value)
{
    return cJSON_IsNumber(value) ? value->valuedouble : 0;
}

uint64_t dti_tree_uint(const struct cJSON *value)
{
    static const double most = 9007199254740992; /* 2^53 */
    const double number = dti_tree_number(value);
    if (!(number >= 0 && number <= most))
        return 0;
    const uint64_t whole = (uint64_t)number;
    return (double)whole == number ? whole : 0;
}

bool dti_tree_is_true(const struct cJSON *value)
{
    return cJSON_IsTrue(value);
}
