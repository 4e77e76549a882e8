/* SPDX-License-Identifier: MIT
 *
 * Finds names and duplicate names. */
#include "containers/name_order.h"
#include "util/run/allocate.h"
#include "util/run/pages.h"

#include <string.h>

enum { IN_BUCKET = 8 }; /* average rows per bucket */

/* Hashes eight bytes per step; any mixing is fine, as equal hashes are compared in full. */
static uint64_t hash_of(const char *name, size_t length)
{
    const uint64_t odd = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t hash = length * odd;
    while (length > 0) {
        uint64_t word = 0;
        const size_t part = length < sizeof word ? length : sizeof word;
        memcpy(&word, name, part);
        hash = (hash ^ word) * odd;
        hash ^= hash >> 29;
        name += part;
        length -= part;
    }
    return hash;
}

struct dti_name dti_name_of(const void *items, size_t index, struct dti_named named)
{
    const char *const item = (const char *)items + index * named.size;
    struct dti_name name;
    memcpy(&name.text, item + named.name, sizeof name.text);
    uint32_t length;
    if (named.is_short) {
        memcpy(&length, item + named.length, sizeof length);
        name.text_length = length;
    } else {
        memcpy(&name.text_length, item + named.length, sizeof name.text_length);
    }
    return name;
}

static uint64_t hash_at(const void *items, size_t index, struct dti_named named)
{
    const struct dti_name name = dti_name_of(items, index, named);
    return hash_of(name.text, name.text_length);
}

/* By length and bytes. */
static int compare_names(struct dti_name a, struct dti_name b)
{
    if (a.text_length != b.text_length)
        return a.text_length < b.text_length ? -1 : 1;
    return a.text_length > 0 ? memcmp(a.text, b.text, a.text_length) : 0;
}

static struct dti_name name_of(const struct dti_name_order *order, const struct dti_name_row *row)
{
    return dti_name_of(order->items, row->index, order->named);
}

/* By hash, then name, then index. */
static int compare_rows(const struct dti_name_order *order, const struct dti_name_row *a,
                        const struct dti_name_row *b)
{
    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    const int names = compare_names(name_of(order, a), name_of(order, b));
    if (names != 0)
        return names;
    return a->index < b->index ? -1 : a->index > b->index;
}

static bool init(struct dti_name_order *ret, size_t capacity, bool owns)
{
    struct dti_name_order order = {.bits = 1, .named = DTI_NAMED(struct dti_name, text)};
    const size_t room = capacity > 0 ? capacity : 1;
    if (capacity > UINT32_MAX)
        return false;
    while (capacity >> order.bits >= IN_BUCKET)
        order.bits++;
    order.rows = dti_malloc(room * sizeof *order.rows);
    dti_pages_use(order.rows, room * sizeof *order.rows);
    const size_t buckets = (size_t)1 << order.bits; /* one block, which is given back when freed */
    order.seen = dti_calloc(buckets + buckets / 2 + 1, sizeof *order.seen);
    order.starts = order.seen ? (uint32_t *)(order.seen + buckets) : NULL;
    order.items = order.own = owns ? dti_malloc(room * sizeof *order.own) : NULL;
    if (!order.rows || !order.seen || (owns && !order.own)) {
        dti_name_order_free(&order);
        return false;
    }
    *ret = order;
    return true;
}

bool dti_name_order_init(struct dti_name_order *ret, size_t capacity)
{
    return init(ret, capacity, true);
}

void dti_name_order_free(struct dti_name_order *order)
{
    dti_free(order->rows);
    dti_free(order->own);
    dti_free(order->seen); /* and the starts */
    *order = (struct dti_name_order){.rows = NULL};
}

/* The word of the bit set that holds this hash; its bit is hash % 64. */
static uint64_t *word_of(const struct dti_name_order *order, uint64_t hash)
{
    return &order->seen[hash >> 6 & (((size_t)1 << order->bits) - 1)];
}

static void add_hash(struct dti_name_order *order, uint64_t hash)
{
    order->rows[order->count] =
        (struct dti_name_row){.hash = (uint32_t)(hash >> 32), .index = (uint32_t)order->count};
    order->count++;
    *word_of(order, hash) |= UINT64_C(1) << hash % 64;
}

void dti_name_order_add(struct dti_name_order *order, const char *name, size_t length)
{
    order->own[order->count] = (struct dti_name){.text = name, .text_length = length};
    add_hash(order, hash_of(name, length));
}

/* In-place bucket sort of rows first to end - 1 by their hash bits from `shift` on: each row goes
 * to its bucket, filled from the end downwards, and displaces the next row to move. `starts`,
 * initially all 0, receives the start of each bucket. */
static void spread(struct dti_name_row *rows, size_t first, size_t end, unsigned shift,
                   uint32_t *starts, size_t buckets)
{
    uint32_t sum = (uint32_t)first;
    for (size_t i = first; i < end; i++)
        starts[rows[i].hash >> shift & (buckets - 1)]++;
    for (size_t i = 0; i < buckets; i++)
        starts[i] = sum += starts[i];
    for (size_t at = first; at < end; at++) {
        struct dti_name_row row = rows[at];
        uint32_t *start = &starts[row.hash >> shift & (buckets - 1)];
        if (at >= *start)
            continue; /* already in place: all rows of earlier buckets are */
        while (--*start != at) {
            const struct dti_name_row other = rows[*start];
            rows[*start] = row;
            row = other;
            start = &starts[row.hash >> shift & (buckets - 1)];
        }
        rows[at] = row;
    }
}

/* With many buckets, sorts in two passes, the second within the buckets of the first: otherwise
 * memory accesses would be scattered. */
static void fill_buckets(struct dti_name_order *order)
{
    enum { TOP = 9 };
    const unsigned low = order->bits > TOP ? order->bits - TOP : 0;
    uint32_t tops[(1 << TOP) + 1] = {0};
    if (low == 0) {
        spread(order->rows, 0, order->count, 32 - order->bits, order->starts,
               (size_t)1 << order->bits);
    } else {
        spread(order->rows, 0, order->count, 32 - TOP, tops, (size_t)1 << TOP);
        tops[1 << TOP] = (uint32_t)order->count;
        for (size_t i = 0; i < (size_t)1 << TOP; i++)
            spread(order->rows, tops[i], tops[i + 1], 32 - order->bits, order->starts + (i << low),
                   (size_t)1 << low);
    }
    order->starts[(size_t)1 << order->bits] = (uint32_t)order->count;
}

/* Moves the row at the top of a heap down to its place; `count` rows. */
static void sift(const struct dti_name_order *order, struct dti_name_row *rows, size_t top,
                 size_t count)
{
    const struct dti_name_row row = rows[top];
    for (size_t below; (below = 2 * top + 1) < count; top = below) {
        below += below + 1 < count && compare_rows(order, &rows[below], &rows[below + 1]) < 0;
        if (compare_rows(order, &row, &rows[below]) >= 0)
            break;
        rows[top] = rows[below];
    }
    rows[top] = row;
}

/* Buckets are small, unless the names were crafted to collide. */
static void sort_rows(const struct dti_name_order *order, struct dti_name_row *rows, size_t count)
{
    if (count > (size_t)4 * IN_BUCKET) {
        for (size_t top = count / 2; top-- > 0;)
            sift(order, rows, top, count);
        for (size_t left = count; left-- > 1;) {
            const struct dti_name_row last = rows[left];
            rows[left] = rows[0];
            rows[0] = last;
            sift(order, rows, 0, left);
        }
        return;
    }
    for (size_t i = 1; i < count; i++) {
        const struct dti_name_row row = rows[i];
        size_t at = i;
        for (; at > 0 && compare_rows(order, &row, &rows[at - 1]) < 0; at--)
            rows[at] = rows[at - 1];
        rows[at] = row;
    }
}

void dti_name_order_sort(struct dti_name_order *order)
{
    const size_t buckets = (size_t)1 << order->bits;
    if (order->count == 0)
        return;
    fill_buckets(order);
    for (size_t i = 0; i < buckets; i++)
        sort_rows(order, order->rows + order->starts[i], order->starts[i + 1] - order->starts[i]);
}

bool dti_name_order_of(struct dti_name_order *ret, const void *items, size_t count,
                       struct dti_named named)
{
    if (!dti_name_order_init(ret, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct dti_name name = dti_name_of(items, i, named);
        dti_name_order_add(ret, name.text, name.text_length);
    }
    dti_name_order_sort(ret);
    return true;
}

bool dti_name_order_over(struct dti_name_order *ret, const void *items, size_t count,
                         struct dti_named named)
{
    if (!init(ret, count, false))
        return false;
    ret->items = items;
    ret->named = named;
    for (size_t i = 0; i < count; i++)
        add_hash(ret, hash_at(items, i, named));
    dti_name_order_sort(ret);
    return true;
}

size_t dti_name_order_repeated(const struct dti_name_order *order)
{
    size_t found = SIZE_MAX;
    for (size_t i = 1; i < order->count; i++) {
        const struct dti_name_row *const row = &order->rows[i], *const before = row - 1;
        if (row->index < found && row->hash == before->hash &&
            compare_names(name_of(order, before), name_of(order, row)) == 0)
            found = row->index;
    }
    return found;
}

/* The table, of a power of two, holds half a hash above an index plus 1. False: crafted names that
 * collide take too many steps. */
static bool look_for_repeated(const void *items, size_t count, struct dti_named named,
                              uint64_t *table, size_t size, size_t *ret_index)
{
    enum { STEPS = 16, AHEAD = 16 };
    uint64_t hashes[AHEAD];
    size_t steps = STEPS * (count + 16);
    *ret_index = SIZE_MAX;
    for (size_t i = 0; i < count && i < AHEAD; i++)
        hashes[i] = hash_at(items, i, named);
    for (size_t i = 0; i < count && steps > 0 && *ret_index == SIZE_MAX; i++) {
        const struct dti_name name = dti_name_of(items, i, named);
        const uint64_t hash = hashes[i % AHEAD], high = hash >> 32 << 32;
        if (i + AHEAD < count) {
            hashes[i % AHEAD] = hash_at(items, i + AHEAD, named);
            __builtin_prefetch(&table[hashes[i % AHEAD] & (size - 1)]);
        }
        size_t at = (size_t)hash & (size - 1);
        for (; table[at] != 0 && steps > 0; at = (at + 1) & (size - 1), steps--) {
            const uint64_t entry = table[at];
            if (high == entry >> 32 << 32 &&
                compare_names(name, dti_name_of(items, (uint32_t)entry - 1, named)) == 0)
                *ret_index = i;
        }
        table[at] = high | (i + 1);
    }
    return steps > 0;
}

bool dti_names_repeated(const void *items, size_t count, struct dti_named named, size_t *ret_index)
{
    struct dti_name_order order;
    size_t size = 16;
    while (size < count + count / 2)
        size *= 2;
    if (count < UINT32_MAX / 2) {
        uint64_t *const table = dti_calloc(size, sizeof *table);
        dti_pages_use(table, size * sizeof *table);
        const bool known = table && look_for_repeated(items, count, named, table, size, ret_index);
        dti_free(table);
        if (known || !table)
            return known;
    }
    if (!dti_name_order_over(&order, items, count, named))
        return false;
    *ret_index = dti_name_order_repeated(&order);
    dti_name_order_free(&order);
    return true;
}

bool dti_name_order_find(const struct dti_name_order *order, const char *name, size_t length,
                         size_t *ret_index)
{
    const struct dti_name wanted = {.text = name, .text_length = length};
    const uint64_t whole = hash_of(name, length);
    const uint32_t hash = (uint32_t)(whole >> 32);
    if (order->count == 0 || (*word_of(order, whole) >> whole % 64 & 1) == 0)
        return false;
    const size_t bucket = hash >> (32 - order->bits), end = order->starts[bucket + 1];
    size_t low = order->starts[bucket], high = end;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct dti_name_row *const row = &order->rows[middle];
        if (row->hash < hash ||
            (row->hash == hash && compare_names(name_of(order, row), wanted) < 0))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == end || order->rows[low].hash != hash ||
        compare_names(name_of(order, &order->rows[low]), wanted) != 0)
        return false;
    *ret_index = order->rows[low].index;
    return true;
}
