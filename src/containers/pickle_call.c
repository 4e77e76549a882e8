/* SPDX-License-Identifier: MIT
 *
 * What a call in a pickle makes, as pickle_globals.def says. Nothing is called. */
#include "containers/pickle_parts.h"
#include "dtinfo/ascii.h"

/* An ordered dict that Python 2 wrote: its argument is a list of pairs. Those are copied, so their
 * number is bounded by the file even if many dicts name one list. */
static bool add_pairs(struct dti_pickle_machine *machine, uint32_t dict, uint32_t from)
{
    enum { ITEMS_PER_BYTE = 8 };
    struct dti_pickle *const pickle = machine->pickle;
    const enum dti_pickle_type type = dti_pickle_type(pickle, from);
    if (type != DTI_PICKLE_LIST && type != DTI_PICKLE_TUPLE)
        return true;
    struct dti_pickle_items items = dti_pickle_items(pickle, from);
    uint32_t item, pair[2], more;
    while (dti_pickle_next(pickle, &items, &item)) {
        const enum dti_pickle_type kind = dti_pickle_type(pickle, item);
        if (kind != DTI_PICKLE_LIST && kind != DTI_PICKLE_TUPLE)
            return dti_pickle_refuse(machine, "a dict that is not made of pairs");
        struct dti_pickle_items parts = dti_pickle_items(pickle, item);
        if (!dti_pickle_next(pickle, &parts, &pair[0]) ||
            !dti_pickle_next(pickle, &parts, &pair[1]) || dti_pickle_next(pickle, &parts, &more))
            return dti_pickle_refuse(machine, "a dict that is not made of pairs");
        if (pickle->item_count / ITEMS_PER_BYTE > machine->at - pickle->start)
            return dti_pickle_refuse(machine, "a list that is repeated too often");
        if (!dti_pickle_append(machine, dict, pair, 2))
            return false;
    }
    return true;
}

static bool make_opaque(struct dti_pickle_machine *machine, uint32_t callee, uint32_t *ret)
{
    struct dti_pickle *const pickle = machine->pickle;
    const struct dti_pickle_node name = pickle->nodes[callee];
    if (!dti_pickle_new(machine,
                        (struct dti_pickle_node){
                            .type = DTI_PICKLE_OPAQUE, .count = name.count, .first = name.first},
                        ret))
        return false;
    if (pickle->called == 0)
        pickle->called = *ret;
    return true;
}

/* Bytes as protocol 2 has them, which knows only texts: _codecs.encode('\xff', 'latin1'). */
static struct dti_pickle_node bytes_of(const struct dti_pickle *pickle, const uint32_t *items,
                                       size_t count)
{
    struct dti_pickle_node made = {.type = DTI_PICKLE_PLAIN};
    size_t length;
    if (count < 2 || items[0] >= DTI_PICKLE_SMALL ||
        dti_pickle_type(pickle, items[1]) != DTI_PICKLE_TEXT)
        return made;
    const char *const code = dti_pickle_text(pickle, items[1], &length);
    const struct dti_pickle_node text = pickle->nodes[items[0]];
    const bool is_short = text.type == DTI_PICKLE_TEXT && text.last != UINT32_MAX;
    if ((!is_short && (text.type != DTI_PICKLE_PLAIN || !text.known)) ||
        (!dti_text_is(code, length, "latin1") && !dti_text_is(code, length, "latin-1")))
        return made;
    const uint64_t at =
        is_short ? pickle->start + text.last : (uint64_t)text.last << 32 | text.first;
    made.type = DTI_PICKLE_BYTES;
    made.known = true;
    made.count = text.count;
    made.first = (uint32_t)at;
    made.last = (uint32_t)(at >> 32);
    return made;
}

/* A class with its source, as old files have it: ('module', class, file, source). */
static uint32_t class_of(const struct dti_pickle *pickle, uint32_t callee)
{
    const uint32_t *items;
    size_t count;
    if (dti_pickle_type(pickle, callee) == DTI_PICKLE_PERSISTENT &&
        dti_pickle_tuple(pickle, dti_pickle_arguments(pickle, callee), &items, &count) && count > 1)
        return items[1];
    return callee;
}

bool dti_pickle_call(struct dti_pickle_machine *machine, uint32_t callee, uint32_t arguments,
                     uint32_t *ret)
{
    const struct dti_pickle *const pickle = machine->pickle;
    const uint32_t *items;
    size_t count;
    if (!dti_pickle_tuple(pickle, arguments, &items, &count))
        return dti_pickle_refuse(machine, "a call without a tuple of arguments");
    callee = class_of(pickle, callee);
    const enum dti_pickle_type type = dti_pickle_type(pickle, callee);
    if (type == DTI_PICKLE_OPAQUE)
        return make_opaque(machine, callee, ret);
    if (type != DTI_PICKLE_GLOBAL)
        return dti_pickle_refuse(machine, "a call of what is not a function");
    struct dti_pickle_node made = {.type = DTI_PICKLE_PLAIN};
    const uint32_t first = count > 0 ? items[0] : DTI_PICKLE_NONE;
    switch (dti_pickle_makes(pickle, callee)) {
    case DTI_PICKLE_MAKES_OPAQUE:
        return make_opaque(machine, callee, ret);
    case DTI_PICKLE_MAKES_PLAIN:
        break;
    case DTI_PICKLE_MAKES_BYTES:
        made = bytes_of(pickle, items, count);
        break;
    case DTI_PICKLE_MAKES_DICT:
        made.type = DTI_PICKLE_DICT;
        return dti_pickle_new(machine, made, ret) && add_pairs(machine, *ret, first);
    case DTI_PICKLE_MAKES_LIST:
        made.type = DTI_PICKLE_LIST;
        if (count == 0)
            break;
        *ret = first;
        return true;
    case DTI_PICKLE_MAKES_ARGUMENT:
        *ret = first;
        return true;
    case DTI_PICKLE_MAKES_CALL:
        made =
            (struct dti_pickle_node){.type = DTI_PICKLE_CALL, .count = arguments, .first = callee};
        break;
    }
    return dti_pickle_new(machine, made, ret);
}
