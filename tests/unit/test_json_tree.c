/* SPDX-License-Identifier: MIT
 *
 * JSON trees: what is found below each key, and what is not a document. */
#include "report/json_tree.h"

#include <stdlib.h>

#include "unit.h"

static struct dti_tree *read_tree(const char *text)
{
    struct dti_tree *tree = NULL;
    const char *problem;
    size_t at;
    CHECK(dti_tree_read(&tree, text, strlen(text), &problem, &at) == DTI_OK);
    return tree;
}

static void values_are_found(void)
{
    struct dti_tree *const tree =
        read_tree(" {\"a\":[1,[2,[]],{\"b\":-1.5e-3}, \"t\\u00e9\\n\",null], \"c\":true,\"d\":{},"
                  "\"a\\u0062\":false,\"c\":\"last\"} ");
    const struct dti_tree *element = dti_tree_first(dti_tree_member(tree, "a"));
    CHECK_STR(dti_tree_number(element), "1");
    CHECK(!dti_tree_text(element) && !dti_tree_first(element) && !dti_tree_is_true(element));
    element = dti_tree_next(element);
    const struct dti_tree *const two = dti_tree_first(element);
    CHECK_STR(dti_tree_number(two), "2");
    CHECK(dti_tree_next(two) && !dti_tree_first(dti_tree_next(two)));
    CHECK(!dti_tree_next(dti_tree_next(two)));
    element = dti_tree_next(element);
    CHECK_STR(dti_tree_number(dti_tree_member(element, "b")), "-1.5e-3");
    element = dti_tree_next(element);
    CHECK_STR(dti_tree_text(element), "t\xC3\xA9\n");
    CHECK(!dti_tree_number(element));
    CHECK(!dti_tree_next(dti_tree_next(element)));
    CHECK_STR(dti_tree_text(dti_tree_member(tree, "c")), "last");
    CHECK(dti_tree_member(tree, "d") && !dti_tree_member(dti_tree_member(tree, "d"), "a"));
    CHECK(dti_tree_member(tree, "ab") && !dti_tree_is_true(dti_tree_member(tree, "ab")));
    CHECK(!dti_tree_member(tree, "b") && !dti_tree_member(NULL, "b") && !dti_tree_first(tree));
    CHECK(!dti_tree_text(NULL) && !dti_tree_number(NULL) && !dti_tree_is_true(NULL));
    dti_tree_free(tree);
}

static void single_values(void)
{
    struct dti_tree *tree = read_tree("true");
    CHECK(dti_tree_is_true(tree));
    dti_tree_free(tree);
    tree = read_tree("\"\"");
    CHECK_STR(dti_tree_text(tree), "");
    dti_tree_free(tree);
    dti_tree_free(NULL);
}

static void check_problem(const char *text, size_t length, const char *want, size_t want_at)
{
    struct dti_tree *tree;
    const char *problem = NULL;
    size_t at = 0;
    CHECK(dti_tree_read(&tree, text, length, &problem, &at) == DTI_BAD_INPUT);
    CHECK_STR(problem, want);
    CHECK_U64(at, want_at);
}

static void what_is_no_document(void)
{
    char nested[DTI_TREE_DIGITS + 100];
    check_problem("{\"a\":1]", 8, "a comma is missing", 6);
    memset(nested, '7', sizeof nested);
    check_problem(nested, DTI_TREE_DIGITS + 1, "a number is too long", DTI_TREE_DIGITS + 1);
}

static void depth_and_length_are_limited(void)
{
    enum { DEEP = 127, MANY = DTI_TREE_VALUES };
    char nested[2 * DEEP + 1];
    memset(nested, '[', DEEP);
    memset(nested + DEEP, ']', DEEP);
    nested[2 * DEEP] = '\0';
    struct dti_tree *tree = read_tree(nested);
    size_t depth = 0;
    for (const struct dti_tree *at = tree; at; at = dti_tree_first(at))
        depth++;
    CHECK_U64(depth, DEEP);
    dti_tree_free(tree);
    char *const many = malloc(2 * (size_t)MANY + 2);
    if (!many)
        return;
    many[0] = '[';
    for (size_t i = 0; i < MANY; i++)
        memcpy(many + 1 + 2 * i, "1,", 2);
    many[2 * (size_t)MANY] = ']';
    check_problem(many, 2 * (size_t)MANY + 1, "there are too many values", 2 * (size_t)MANY);
    free(many);
}

UNIT_MAIN(values_are_found, single_values, what_is_no_document, depth_and_length_are_limited)
