/* SPDX-License-Identifier: MIT
 *
 * A recursive descent parser for the grammar of tree.h, with a depth limit. A composite is
 * expanded inline at each call: its body is parsed with the arguments' nodes bound to the names
 * a, b, c. So the evaluator knows nothing about composites but the names of their steps. */
#include "calc/parse/tree_parse.h"

#include <assert.h>

#include "util/run/allocate.h"
#include "util/text/ascii.h"

/* Growing arrays of nodes and names, with limits. */

/* Grows `items` to hold `more` items after the first `count`; NULL when out of memory. */
static void *grown(void *items, size_t *capacity, size_t count, size_t more, size_t size)
{
    size_t wanted = *capacity ? *capacity : 16;
    if (items && count + more <= *capacity)
        return items;
    while (wanted < count + more)
        wanted *= 2;
    void *const moved = dti_realloc(items, wanted * size);
    if (moved)
        *capacity = wanted;
    return moved;
}

static enum dti_status init(struct dti_builder *b, const char *text, size_t length)
{
    if (length > DTI_CALC_TEXT_MAX)
        return dti_fail(b->error, DTI_BAD_VALUE,
                        "the expression has %zu characters; the limit is %d", length,
                        DTI_CALC_TEXT_MAX);
    size_t size = length + 1;
    for (enum dti_calc_op op = 0; op < DTI_CALC_OP_COUNT; op++)
        size += strlen(dti_calc_op_body(dti_calc_op_get(op)));
    b->tree = dti_calloc(1, sizeof *b->tree);
    char *const source = b->tree ? dti_malloc(size) : NULL;
    if (!source)
        return dti_no_memory(b->error);
    b->tree->source = source;
    b->tree->own_length = length;
    if (length > 0)
        memcpy(source, text, length);
    size_t at = length;
    for (enum dti_calc_op op = 0; op < DTI_CALC_OP_COUNT; op++) {
        const char *const body = dti_calc_op_body(dti_calc_op_get(op));
        b->bodies[op] = at;
        memcpy(source + at, body, strlen(body));
        at += strlen(body);
    }
    source[at] = '\0';
    b->reader = (struct dti_reader){.source = source, .end = length};
    return DTI_OK;
}

/* Frees the builder's arrays, but not the tree. */
static void free_builder(struct dti_builder *b)
{
    dti_free(b->names);
    dti_free(b->pending);
}

void dti_calc_tree_free(struct dti_calc_tree *tree)
{
    if (!tree)
        return;
    for (size_t i = 0; i < tree->node_count; i++) {
        if (tree->nodes[i].number)
            dti_number_free(tree->nodes[i].number);
        dti_free(tree->nodes[i].number);
        dti_free(tree->nodes[i].path);
        dti_free(tree->nodes[i].tensor);
    }
    dti_free(tree->nodes);
    dti_free(tree->children);
    dti_free(tree->source);
    dti_free(tree);
}

/* Adds a node whose text is source[start, end). */
static enum dti_status add_node(struct dti_builder *b, enum dti_calc_node_kind kind,
                                enum dti_calc_op op, const size_t *children, size_t count,
                                size_t start, size_t end, size_t *ret)
{
    struct dti_calc_tree *const tree = b->tree;
    if (tree->node_count >= DTI_CALC_NODES_MAX)
        return dti_fail(b->error, DTI_BAD_VALUE,
                        "the expression has more than %d parts; read long lists from a file: "
                        "@list.npy",
                        DTI_CALC_NODES_MAX);
    void *const nodes =
        grown(tree->nodes, &b->node_capacity, tree->node_count, 1, sizeof *tree->nodes);
    if (!nodes)
        return dti_no_memory(b->error);
    tree->nodes = nodes;
    void *const slots =
        grown(tree->children, &b->child_capacity, tree->child_count, count, sizeof *tree->children);
    if (!slots)
        return dti_no_memory(b->error);
    tree->children = slots;
    tree->nodes[tree->node_count] = (struct dti_calc_node){.kind = kind,
                                                           .op = op,
                                                           .first = tree->child_count,
                                                           .count = count,
                                                           .text = start,
                                                           .length = end - start};
    if (count > 0)
        memcpy(tree->children + tree->child_count, children, count * sizeof *children);
    tree->child_count += count;
    *ret = tree->node_count++;
    return DTI_OK;
}

static enum dti_status add_number(struct dti_builder *b, size_t *ret)
{
    struct dti_number *const number = dti_calloc(1, sizeof *number);
    enum dti_status status =
        number ? dti_reader_number(&b->reader, number, b->error) : dti_no_memory(b->error);
    if (status == DTI_OK) {
        status = add_node(b, DTI_NODE_NUMBER, DTI_CALC_OP_COUNT, NULL, 0, b->reader.start,
                          b->reader.start + b->reader.length, ret);
        if (status == DTI_OK) {
            b->tree->nodes[*ret].number = number;
            return DTI_OK;
        }
        dti_number_free(number);
    }
    dti_free(number);
    return status;
}

static enum dti_status push(struct dti_builder *b, size_t node)
{
    void *const pending =
        grown(b->pending, &b->pending_capacity, b->pending_count, 1, sizeof *b->pending);
    if (!pending)
        return dti_no_memory(b->error);
    b->pending = pending;
    b->pending[b->pending_count++] = node;
    return DTI_OK;
}

static enum dti_status add_name(struct dti_builder *b, const char *text, size_t length, size_t node)
{
    if (b->name_count >= DTI_CALC_NODES_MAX)
        return dti_fail(b->error, DTI_BAD_VALUE, "more than %d names", DTI_CALC_NODES_MAX);
    void *const names = grown(b->names, &b->name_capacity, b->name_count, 1, sizeof *b->names);
    if (!names)
        return dti_no_memory(b->error);
    b->names = names;
    b->names[b->name_count++] =
        (struct dti_builder_name){.text = text, .length = length, .node = node};
    return DTI_OK;
}

static enum dti_status parse_expr(struct dti_builder *b, size_t *ret);

static enum dti_status enter(struct dti_builder *b)
{
    if (b->depth++ < DTI_CALC_DEPTH_MAX)
        return DTI_OK;
    return dti_fail(b->error, DTI_BAD_VALUE, "the expression is nested more than %d levels deep",
                    DTI_CALC_DEPTH_MAX);
}

static enum dti_status next(struct dti_builder *b)
{
    return dti_reader_next(&b->reader, b->error);
}

/* Expects the bracket that closes the one at `start`. */
static enum dti_status close_bracket(struct dti_builder *b, char bracket, size_t start)
{
    const struct dti_reader *const r = &b->reader;
    if (r->token == bracket)
        return next(b);
    if (r->token == DTI_TOKEN_END)
        return dti_fail(b->error, DTI_BAD_VALUE, "'%c' is missing after %s", bracket,
                        DTI_QUOTED(r->source + start, r->last_end - start));
    return dti_builder_unexpected(b, bracket == ')' ? "an operator or ')'" : "',' or ']'");
}

/* Parses expr {"," expr} and pushes the nodes onto the pending stack. */
static enum dti_status parse_items(struct dti_builder *b, size_t *ret_count)
{
    enum dti_status status;
    size_t count = 0, node;
    for (;;) {
        if ((status = parse_expr(b, &node)) != DTI_OK || (status = push(b, node)) != DTI_OK)
            return status;
        count++;
        if (b->reader.token != ',')
            break;
        if ((status = next(b)) != DTI_OK)
            return status;
    }
    *ret_count = count;
    return DTI_OK;
}

static enum dti_status parse_body(struct dti_builder *b, size_t *ret);

/* Expands a composite: binds the top `count` pending nodes to its parameter names and parses its
 * body. */
static enum dti_status expand(struct dti_builder *b, enum dti_calc_op op, size_t count,
                              size_t start, size_t end, size_t *ret)
{
    static const char *const names[] = {"a", "b", "c"};
    struct dti_calc_tree *const tree = b->tree;
    const struct dti_reader outside = b->reader;
    const size_t base = b->name_base, name_count = b->name_count, first = tree->node_count;
    enum dti_status status = enter(b);
    size_t node = 0;
    assert(count <= sizeof names / sizeof *names);
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        const size_t argument = b->pending[b->pending_count - count + i];
        const struct dti_calc_node *const given = &tree->nodes[argument];
        status = add_node(b, DTI_NODE_CAST, op, &argument, 1, given->text,
                          given->text + given->length, &node);
        if (status == DTI_OK)
            status = add_name(b, names[i], 1, node);
    }
    b->pending_count -= count;
    if (status != DTI_OK)
        return status;
    b->name_base = name_count;
    b->reader =
        (struct dti_reader){.source = tree->source,
                            .at = b->bodies[op],
                            .start = b->bodies[op],
                            .end = b->bodies[op] + strlen(dti_calc_op_body(dti_calc_op_get(op)))};
    if ((status = parse_body(b, &node)) != DTI_OK ||
        (status = add_node(b, DTI_NODE_CAST, op, &node, 1, start, end, &node)) != DTI_OK)
        return status;
    for (size_t i = first; i < node; i++)
        tree->nodes[i].within = tree->nodes[i].within ? tree->nodes[i].within : node + 1;
    b->name_base = base;
    b->name_count = name_count;
    b->reader = outside;
    b->depth--;
    *ret = node;
    return DTI_OK;
}

/* NAME "(" ...: the bracket is the current token. */
static enum dti_status parse_call(struct dti_builder *b, size_t start, size_t length, size_t *ret)
{
    const char *const name = b->reader.source + start;
    enum dti_calc_op op;
    size_t count = 0;
    enum dti_status status;
    if (!dti_calc_op_find(name, length, &op))
        return dti_builder_unknown(b, true, name, length);
    const struct dti_calc_op_row *const row = dti_calc_op_get(op);
    if ((status = enter(b)) != DTI_OK || (status = next(b)) != DTI_OK)
        return status;
    if (b->reader.token == ')')
        return dti_builder_wrong_count(b, row, 0);
    if ((status = parse_items(b, &count)) != DTI_OK ||
        (status = close_bracket(b, ')', start)) != DTI_OK)
        return status;
    b->depth--;
    if (count < row->least || count > row->most)
        return dti_builder_wrong_count(b, row, count);
    if (dti_calc_op_body(row)[0] != '\0')
        return expand(b, op, count, start, b->reader.last_end, ret);
    b->pending_count -= count;
    return add_node(b, DTI_NODE_CALL, op, b->pending + b->pending_count, count, start,
                    b->reader.last_end, ret);
}

/* Adds the node of a file or an array, and takes the texts. */
static enum dti_status add_file(struct dti_builder *b, char *path, char *tensor, size_t start,
                                size_t end, size_t *ret)
{
    const enum dti_status status =
        path ? add_node(b, DTI_NODE_FILE, DTI_CALC_OP_COUNT, NULL, 0, start, end, ret)
             : dti_no_memory(b->error);
    if (status != DTI_OK) {
        dti_free(path);
        dti_free(tensor);
        return status;
    }
    b->tree->nodes[*ret].path = path;
    b->tree->nodes[*ret].tensor = tensor;
    return DTI_OK;
}

/* The first use of the name of an array; later ones find the node. */
static enum dti_status add_bound(struct dti_builder *b, const char *name, size_t start,
                                 size_t length, size_t *ret)
{
    const enum dti_status status = add_file(b, dti_strdup(name), NULL, start, start + length, ret);
    return status == DTI_OK ? add_name(b, name, length, *ret) : status;
}

/* The caller's name for an array, outside of composites; NULL if there is none. */
static const char *find_bound(const struct dti_builder *b, const char *name, size_t length)
{
    const char *const *at = b->name_base == 0 ? b->bound : NULL;
    for (; at && *at; at++) {
        if (strlen(*at) == length && memcmp(*at, name, length) == 0)
            return *at;
    }
    return NULL;
}

static enum dti_status parse_name(struct dti_builder *b, size_t *ret)
{
    const size_t start = b->reader.start, length = b->reader.length;
    const char *const name = b->reader.source + start;
    enum dti_calc_op op;
    const bool number = dti_builder_is_number(name, length);
    enum dti_status status = number ? add_number(b, ret) : DTI_OK;
    if (status == DTI_OK)
        status = next(b);
    if (status != DTI_OK || number)
        return status;
    if (b->reader.token == '(')
        return parse_call(b, start, length, ret);
    for (size_t i = b->name_count; i-- > b->name_base;) {
        if (b->names[i].length == length && memcmp(b->names[i].text, name, length) == 0) {
            *ret = b->names[i].node;
            return DTI_OK;
        }
    }
    const char *const bound = find_bound(b, name, length);
    if (bound)
        return add_bound(b, bound, start, length, ret);
    if (dti_calc_op_find(name, length, &op))
        return dti_fail_word(b->error, DTI_BAD_VALUE, name, length,
                             "'%s' is a function; write '%s(...)'", dti_calc_op_get(op)->name,
                             dti_calc_op_get(op)->name);
    return dti_builder_unknown(b, false, name, length);
}

/* "@": a file, and optionally one of its tensors. */
static enum dti_status parse_file(struct dti_builder *b, size_t *ret)
{
    const size_t start = b->reader.start;
    char *path = NULL, *tensor = NULL;
    enum dti_status status = dti_reader_path(&b->reader, "a path", &path, b->error);
    if (status == DTI_OK && b->reader.token == ':')
        status = dti_reader_path(&b->reader, "a tensor's name", &tensor, b->error);
    if (status == DTI_OK && b->bound)
        status = dti_fail_word(b->error, DTI_BAD_VALUE, path, strlen(path),
                               "%s: files are not read here; give the array a name",
                               DTI_QUOTED(path, strlen(path)));
    if (status == DTI_OK)
        return add_file(b, path, tensor, start, b->reader.last_end, ret);
    dti_free(path);
    dti_free(tensor);
    return status;
}

static enum dti_status parse_list(struct dti_builder *b, size_t *ret)
{
    const size_t start = b->reader.start;
    size_t count = 0;
    enum dti_status status;
    if ((status = enter(b)) != DTI_OK || (status = next(b)) != DTI_OK ||
        (status = parse_items(b, &count)) != DTI_OK ||
        (status = close_bracket(b, ']', start)) != DTI_OK)
        return status;
    b->depth--;
    b->pending_count -= count;
    return add_node(b, DTI_NODE_LIST, DTI_CALC_OP_COUNT, b->pending + b->pending_count, count,
                    start, b->reader.last_end, ret);
}

static enum dti_status parse_primary(struct dti_builder *b, size_t *ret)
{
    const size_t start = b->reader.start;
    enum dti_status status;
    switch (b->reader.token) {
    case DTI_TOKEN_NUMBER:
        status = add_number(b, ret);
        return status == DTI_OK ? next(b) : status;
    case DTI_TOKEN_NAME:
        return parse_name(b, ret);
    case '@':
        return parse_file(b, ret);
    case '[':
        return parse_list(b, ret);
    case '(':
        if ((status = enter(b)) != DTI_OK || (status = next(b)) != DTI_OK ||
            (status = parse_expr(b, ret)) != DTI_OK)
            return status;
        b->depth--;
        return close_bracket(b, ')', start);
    default:
        return dti_builder_unexpected(b, "a number, a name or '('");
    }
}

static enum dti_status parse_power(struct dti_builder *b, size_t *ret)
{
    const size_t start = b->reader.start;
    size_t node = 0;
    enum dti_status status = parse_primary(b, &node);
    if (status != DTI_OK)
        return status;
    if (b->reader.token != '^') {
        *ret = node;
        return DTI_OK;
    }
    if ((status = next(b)) != DTI_OK)
        return status;
    const bool negative = b->reader.token == '-';
    if (negative && (status = next(b)) != DTI_OK)
        return status;
    const char *const text = b->reader.source + b->reader.start;
    int64_t power = 0;
    size_t digits = 0;
    while (digits < b->reader.length && dti_ascii_digit(text[digits]) &&
           power <= DTI_CALC_POWER_MAX)
        power = power * 10 + (text[digits++] - '0');
    if (b->reader.token != DTI_TOKEN_NUMBER)
        return dti_builder_unexpected(b, "an integer");
    if (power > DTI_CALC_POWER_MAX || digits < b->reader.length)
        return dti_fail_word(b->error, DTI_BAD_VALUE, text, b->reader.length,
                             "the exponent %s is not an integer up to %d; write 'sqrt(x)' or "
                             "'exp(b*log(a))'",
                             DTI_QUOTED(text, b->reader.length), DTI_CALC_POWER_MAX);
    if ((status = next(b)) != DTI_OK)
        return status;
    if (b->reader.token == '^')
        return dti_builder_unexpected(b, "an operator other than '^'");
    status = add_node(b, DTI_NODE_CALL, DTI_CALC_POWER, &node, 1, start, b->reader.last_end, ret);
    if (status == DTI_OK)
        b->tree->nodes[*ret].power = negative ? -power : power;
    return status;
}

static enum dti_status parse_unary(struct dti_builder *b, size_t *ret)
{
    const size_t start = b->reader.start, first = b->tree->node_count;
    const int sign = b->reader.token;
    size_t node = 0;
    enum dti_status status;
    if (sign != '-' && sign != '+')
        return parse_power(b, ret);
    if ((status = enter(b)) != DTI_OK || (status = next(b)) != DTI_OK)
        return status;
    const bool bare = b->reader.token == DTI_TOKEN_NUMBER || b->reader.token == DTI_TOKEN_NAME;
    if ((status = parse_unary(b, &node)) != DTI_OK)
        return status;
    b->depth--;
    struct dti_calc_node *const given = &b->tree->nodes[node];
    if (bare && node >= first && given->kind == DTI_NODE_NUMBER) { /* a signed literal */
        given->number->negative = sign == '-';
        given->length += given->text - start;
        given->text = start;
    } else if (sign == '-') {
        return add_node(b, DTI_NODE_CALL, DTI_CALC_NEGATE, &node, 1, start, b->reader.last_end,
                        ret);
    }
    *ret = node;
    return DTI_OK;
}

/* Parses a left-associative chain of either of two operators with operands of `next_level`. */
static enum dti_status parse_chain(struct dti_builder *b, const char *signs,
                                   const enum dti_calc_op *ops,
                                   enum dti_status (*level)(struct dti_builder *, size_t *),
                                   size_t *ret)
{
    const size_t start = b->reader.start;
    size_t pair[2] = {0}; /* which level() sets: gcc's analyzer does not see it at this depth */
    enum dti_status status = level(b, &pair[0]);
    while (status == DTI_OK && (b->reader.token == signs[0] || b->reader.token == signs[1])) {
        const enum dti_calc_op op = ops[b->reader.token == signs[1]];
        if ((status = next(b)) != DTI_OK || (status = level(b, &pair[1])) != DTI_OK)
            return status;
        status = add_node(b, DTI_NODE_CALL, op, pair, 2, start, b->reader.last_end, &pair[0]);
    }
    if (status == DTI_OK)
        *ret = pair[0];
    return status;
}

static enum dti_status parse_term(struct dti_builder *b, size_t *ret)
{
    static const enum dti_calc_op ops[] = {DTI_CALC_MULTIPLY, DTI_CALC_DIVIDE};
    return parse_chain(b, "*/", ops, parse_unary, ret);
}

static enum dti_status parse_expr(struct dti_builder *b, size_t *ret)
{
    static const enum dti_calc_op ops[] = {DTI_CALC_ADD, DTI_CALC_SUBTRACT};
    return parse_chain(b, "+-", ops, parse_term, ret);
}

/* Whether the current token starts NAME "=". */
static bool is_assignment(const struct dti_builder *b)
{
    struct dti_reader ahead = b->reader;
    return ahead.token == DTI_TOKEN_NAME && dti_reader_next(&ahead, NULL) == DTI_OK &&
           ahead.token == '=';
}

static enum dti_status parse_assignment(struct dti_builder *b)
{
    const char *const name = b->reader.source + b->reader.start;
    const size_t start = b->reader.start, length = b->reader.length;
    enum dti_calc_op op;
    size_t node;
    enum dti_status status;
    if (dti_calc_op_find(name, length, &op) || dti_builder_is_number(name, length))
        return dti_fail_word(b->error, DTI_BAD_VALUE, name, length,
                             "%s has a meaning of its own; choose another name",
                             DTI_QUOTED(name, length));
    status = next(b); /* '=' */
    if (status == DTI_OK)
        status = next(b);
    if (status == DTI_OK)
        status = parse_expr(b, &node);
    if (status != DTI_OK)
        return status;
    if (b->reader.token == DTI_TOKEN_END)
        return dti_fail(b->error, DTI_BAD_VALUE, "'; EXPR' is missing after %s",
                        DTI_QUOTED(b->reader.source + start, b->reader.last_end - start));
    if (b->reader.token != ';')
        return dti_builder_unexpected(b, "an operator or ';'");
    status = add_name(b, name, length, node);
    return status == DTI_OK ? next(b) : status;
}

static enum dti_status parse_body(struct dti_builder *b, size_t *ret)
{
    enum dti_status status = next(b);
    while (status == DTI_OK && is_assignment(b))
        status = parse_assignment(b);
    if (status == DTI_OK)
        status = parse_expr(b, ret);
    if (status == DTI_OK && b->reader.token != DTI_TOKEN_END)
        return dti_builder_unexpected(b, "an operator");
    return status;
}

/* Whether an expression can contain a name, which must have no meaning of its own. */
static bool is_free_name(const char *name)
{
    const size_t length = strlen(name);
    enum dti_calc_op op;
    struct dti_reader reader = {.source = name, .end = length};
    return dti_reader_next(&reader, NULL) == DTI_OK && reader.token == DTI_TOKEN_NAME &&
           reader.length == length && !dti_calc_op_find(name, length, &op) &&
           !dti_builder_is_number(name, length);
}

static enum dti_status check_bound(const char *const *names, struct dti_error *reterr)
{
    for (const char *const *at = names; *at; at++) {
        const size_t length = strlen(*at);
        if (!is_free_name(*at))
            return dti_fail_word(reterr, DTI_USAGE, *at, length,
                                 "%s is no name for an array: letters, digits and _ are, unless "
                                 "they mean something else",
                                 DTI_QUOTED(*at, length));
        for (const char *const *other = names; other < at; other++) {
            if (strcmp(*other, *at) == 0)
                return dti_fail_word(reterr, DTI_USAGE, *at, length, "two arrays have the name %s",
                                     DTI_QUOTED(*at, length));
        }
    }
    return DTI_OK;
}

static enum dti_status parse_tree(struct dti_calc_tree **ret, const char *text, size_t length,
                                  const char *const *bound, struct dti_error *reterr)
{
    struct dti_builder b = {.error = reterr, .bound = bound};
    enum dti_status status = init(&b, text, length);
    if (status == DTI_OK)
        status = parse_body(&b, &b.tree->answer);
    if (status == DTI_OK)
        *ret = b.tree;
    else
        dti_calc_tree_free(b.tree);
    free_builder(&b);
    return status;
}

enum dti_status dti_calc_parse(struct dti_calc_tree **ret, const char *text, size_t length,
                               struct dti_error *reterr)
{
    return parse_tree(ret, text, length, NULL, reterr);
}

enum dti_status dti_calc_parse_bound(struct dti_calc_tree **ret, const char *text, size_t length,
                                     const char *const *names, struct dti_error *reterr)
{
    const enum dti_status status = check_bound(names, reterr);
    return status == DTI_OK ? parse_tree(ret, text, length, names, reterr) : status;
}
