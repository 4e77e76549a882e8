/* SPDX-License-Identifier: MIT
 *
 * Modules that loaders store as one matrix: see fused_modules.h. Needed wherever tensors are
 * written or checked that share a property across the whole matrix. */
#include "files/stored/fused_modules.h"

#include <string.h>

struct fused_name {
    unsigned char length; /* 0 after the last one */
    char text[23];
};
static const struct {
    unsigned needs;
    struct fused_name names[DTI_FUSED_MOST];
} rows[] = {
#define M(name)                                  \
    {                                            \
        .length = sizeof(name) - 1, .text = name \
    }
#define FUSED_MODULES(matrix, needs_, source, ...) {.needs = (needs_), .names = {__VA_ARGS__}},
#include "files/stored/fused_modules.def"
#undef FUSED_MODULES
#undef M
};
enum { ROWS = sizeof rows / sizeof *rows };

static const char weight[] = ".weight";
enum {
    WEIGHT = sizeof weight - 1,
    SUFFIX = DTI_FUSED_LONGEST + WEIGHT + 1, /* of a member's name, after the parent */
};

/* Whether the name is that of a weight; *ret_last: the last character of its module's name. */
static bool is_weight(const char *name, size_t length, char *ret_last)
{
    if (length <= WEIGHT || memcmp(name + length - WEIGHT, weight, WEIGHT) != 0)
        return false;
    *ret_last = name[length - WEIGHT - 1];
    return true;
}

/* Whether a weight's name is that of the module's weight; *ret_prefix: the length of its
 * parent's. */
static bool ends(const char *name, size_t length, char last, const char *module, size_t own,
                 size_t *ret_prefix)
{
    const size_t wanted = own + WEIGHT;
    if (module[own - 1] != last || length < wanted ||
        memcmp(name + length - wanted, module, own) != 0)
        return false;
    *ret_prefix = length - wanted;
    return length == wanted || name[length - wanted - 1] == '.';
}

static bool is_own(const struct dti_fused_own *own, const char *name, size_t length)
{
    for (size_t i = 0; own && i < own->count; i++) {
        if (strlen(own->names[i]) == length && memcmp(own->names[i], name, length) == 0)
            return true;
    }
    return false;
}

/* The modules of a matrix. */
struct modules {
    size_t count;
    const char *names[DTI_FUSED_MOST];
    unsigned needs;
    const struct dti_fused_own
        *without; /* the group whose modules are not of this matrix; or NULL */
};

/* Fills *ret with the modules that exist; false: one that is needed does not, or none but one. */
static bool gather(const struct modules *modules, const struct dti_quant_names *names,
                   const char *name, size_t prefix, size_t self, struct dti_fused_match *ret)
{
    ret->count = 0;
    for (size_t i = 0; i < modules->count; i++) {
        char suffix[SUFFIX];
        const size_t length = strlen(modules->names[i]);
        memcpy(suffix, modules->names[i], length);
        memcpy(suffix + length, weight, sizeof weight);
        if (is_own(modules->without, modules->names[i], length) ||
            !dti_quant_names_find(names, name, prefix, suffix, &ret->members[ret->count])) {
            if (i < modules->needs || i == self)
                return false;
            continue;
        }
        if (i == self)
            ret->self = ret->count;
        ret->count++;
    }
    return ret->count > 1;
}

/* The user's group comes first, as number 0; then the rows. */
static struct modules modules_of(const struct dti_fused_own *own, size_t at)
{
    struct modules ret = {.count = 0};
    for (; at == 0 && own && ret.count < own->count; ret.count++)
        ret.names[ret.count] = own->names[ret.count];
    if (at == 0)
        return ret;
    const struct fused_name *const names = rows[at - 1].names;
    for (; ret.count < DTI_FUSED_MOST && names[ret.count].length > 0; ret.count++)
        ret.names[ret.count] = names[ret.count].text;
    ret.needs = rows[at - 1].needs;
    ret.without = own;
    return ret;
}

/* A module of a matrix; both count from 0 on, and matrices as modules_of() has them. */
struct module {
    size_t at, self;
};

/* Whether a weight's name is that of a module of the user's group, from module->self on. */
static bool find_own(const struct dti_fused_own *own, const char *name, size_t length, char last,
                     struct module *module, size_t *ret_prefix)
{
    for (; own && module->self < own->count; module->self++) {
        const char *const text = own->names[module->self];
        if (ends(name, length, last, text, strlen(text), ret_prefix))
            return true;
    }
    return false;
}

/* Finds the next module whose weight's name this can be, from *module on. Most names are those of
 * none, which their last letter tells for most modules. */
static bool find_module(const struct dti_fused_own *own, const char *name, size_t length, char last,
                        struct module *module, size_t *ret_prefix)
{
    if (module->at == 0) {
        if (find_own(own, name, length, last, module, ret_prefix))
            return true;
        *module = (struct module){.at = 1};
    }
    for (; module->at <= ROWS; *module = (struct module){.at = module->at + 1}) {
        const struct fused_name *const names = rows[module->at - 1].names;
        for (size_t i = module->self; i < DTI_FUSED_MOST && names[i].length > 0; i++) {
            if (names[i].text[names[i].length - 1] != last ||
                !ends(name, length, last, names[i].text, names[i].length, ret_prefix))
                continue;
            module->self = i;
            return true;
        }
    }
    return false;
}

bool dti_fused_find(const struct dti_fused_own *own, const struct dti_quant_names *names,
                    const char *name, size_t length, struct dti_fused_match *ret)
{
    struct module module = {.at = 0};
    size_t prefix;
    char last;
    if (!is_weight(name, length, &last))
        return false;
    for (; find_module(own, name, length, last, &module, &prefix); module.self++) {
        const struct modules modules = modules_of(own, module.at);
        ret->own = module.at == 0;
        if (gather(&modules, names, name, prefix, module.self, ret))
            return true;
    }
    return false;
}

bool dti_fused_may_be(const struct dti_fused_own *own, const char *name, size_t length)
{
    struct module module = {.at = 0};
    size_t prefix;
    char last;
    return is_weight(name, length, &last) && find_module(own, name, length, last, &module, &prefix);
}

enum dti_status dti_fused_own_refuse(const struct dti_fused_own *own, struct dti_error *reterr)
{
    char first[DTI_QUOTE_SIZE], second[DTI_QUOTE_SIZE];
    return dti_fail_remedy(reterr, DTI_USAGE, DTI_REMEDY_CORRECT_FUSED,
                           "nothing has two of the modules %s, %s%s in it",
                           dti_quote(first, own->names[0], strlen(own->names[0])),
                           dti_quote(second, own->names[1], strlen(own->names[1])),
                           own->count > 2 ? " and so on" : "");
}

static enum dti_status refuse(struct dti_error *reterr, const char *text, const char *why)
{
    char quoted[DTI_QUOTE_SIZE];
    return dti_fail_remedy(reterr, DTI_USAGE, DTI_REMEDY_CORRECT_FUSED,
                           "a group has 2 to %d names of modules between commas; %s %s",
                           (int)DTI_FUSED_MOST, dti_quote(quoted, text, strlen(text)), why);
}

enum dti_status dti_fused_own_read(struct dti_fused_own *ret, const char *text,
                                   struct dti_error *reterr)
{
    struct dti_fused_own own = {.count = 0};
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        const bool whole = length > WEIGHT && memcmp(at + length - WEIGHT, weight, WEIGHT) == 0;
        const size_t kept = whole ? length - WEIGHT : length;
        if (kept == 0)
            return refuse(reterr, text, "has an empty one");
        if (kept > DTI_FUSED_LONGEST)
            return refuse(reterr, text, "has a name that is too long");
        if (memchr(at, '*', length) || memchr(at, '?', length) || memchr(at, '[', length))
            return refuse(reterr, text, "has a pattern; give the names as they are");
        if (own.count == DTI_FUSED_MOST)
            return refuse(reterr, text, "has more");
        if (is_own(&own, at, kept))
            return refuse(reterr, text, "has one twice");
        memcpy(own.names[own.count++], at, kept);
        at += length;
        if (*at == '\0')
            break;
    }
    if (own.count < 2)
        return refuse(reterr, text, "is one");
    *ret = own;
    return DTI_OK;
}
