/* SPDX-License-Identifier: MIT
 *
 * A tensor with its parts, found by their names, and what they become. */
#ifndef FILES_DEQUANT_DEQUANT_FIND_H
#define FILES_DEQUANT_DEQUANT_FIND_H

#include "files/dequant/dequant_parts.h"
#include "files/stored/quant_reading.h"

struct dti_dequant_group {
    const char *name; /* X; not ended by a NUL */
    size_t name_length;
    size_t at;        /* the tensor with the codes, in the container */
    bool packed_name; /* it is called X_packed */
    bool free_name;   /* an npy file: names say nothing */
    bool inverse;     /* scales are called X_scale_inv: those of rectangles, and factors for all
                       * their name */
    bool beside;      /* X is Y.weight, and scales are called Y.scale: of rectangles or blocks */
    const struct dti_quant_row *stated;       /* it has a state, of this row; or NULL */
    const struct dti_layout_ops *layout_read; /* it is one of dequant_layouts.h; or NULL */
    struct dti_file_dequant *view;            /* where it is */
    bool bound;                               /* only rows of `layout` are meant */
    enum dti_quant_layout layout;
    bool has_entry, entry_high; /* there is a metadata entry */
    const char *entry_dtype;
    uint64_t entry_group;                         /* 0: no length of groups */
    struct dti_dequant_part part[DTI_PART_COUNT]; /* by enum dti_quant_part; container NULL: none */
};

static inline bool dti_dequant_has(const struct dti_dequant_group *group, enum dti_quant_part part)
{
    return group->part[part].container != NULL;
}

static inline const struct dti_tensor *dti_dequant_of(const struct dti_dequant_group *group,
                                                      enum dti_quant_part part)
{
    return dti_dequant_part_tensor(&group->part[part]);
}

/* What is known of a tensor besides its parts. */
struct dti_dequant_knowledge {
    const struct dti_quant_hint *hints; /* it is by one of them */
    size_t count;                       /* at least 1 */
    const char *source;                 /* who says so: "config.json"; for messages */
    bool configured;                    /* a file says so, of a whole checkpoint */
    const char *rule;                   /* for the module, by this name or pattern; or NULL */
    size_t rule_length;
};

/* dequant_find.c: a tensor that is codes, with the parts that there are, unless patterns leave it
 * out; *ret stays then. */
enum dti_status dti_dequant_take(struct dti_file_dequant *dequant, struct dti_dequant_group *group,
                                 struct dti_dequant_found **ret, struct dti_error *reterr);

/* The metadata entry about the tensor; NULL: there is none. */
const struct dti_metadata *dti_dequant_entry(struct dti_file_dequant *dequant,
                                             const struct dti_dequant_group *group);

/* dequant_configured.c: what the configuration says of a tensor. It is read if it was not. What
 * would be read as plain numbers is refused, unless the caller says how to read it. */
enum dti_status dti_dequant_configured(struct dti_file_dequant *dequant,
                                       const struct dti_dequant_group *group,
                                       struct dti_quant_module *ret, struct dti_error *reterr);

/* The same of a tensor with which nothing else is known to be wrong: OPEN, nothing is said of it;
 * PLAIN, it is not quantized, or *ret is not filled for another reason. */
enum dti_dequant_said { DTI_MODULE_OPEN, DTI_MODULE_PLAIN, DTI_MODULE_QUANTIZED };
enum dti_dequant_said dti_dequant_said(struct dti_file_dequant *dequant,
                                       const struct dti_tensor *tensor,
                                       struct dti_quant_module *ret);
/* How the configuration's layout calls the scale of Y.weight with codes of this class; NULL: codes
 * are not called so. */
const char *dti_dequant_scale_name(const struct dti_quant_config *config,
                                   const struct dti_quant_module *module, int class);

/* What the codes are. */
struct dti_dequant_scheme {
    const struct dti_quant_row *row;
    const struct dti_block_format *block; /* or affine codes: */
    struct dti_format code;               /* of a code; WORDS: unsigned, as they are stored */
    unsigned bits;
    bool asymmetric; /* it is said that there are zero points */
    bool ordered;    /* and that columns have groups in an order of their own */
};

/* What shapes leave open: two lengths along an axis, or several widths; else all zeros. */
struct dti_dequant_ambiguity {
    unsigned axis;
    struct dti_quant_lengths lengths; /* `other` 0: not they */
    unsigned widths;                  /* a set, as of dti_quant_widths() */
    bool crossing;                    /* codes of words may cross them or not */
    bool unsigned_codes;              /* of uint8 without zero points, which may be packed ones */
};

/* dequant_state.c: the same of a tensor with a state, which leaves nothing open. */
enum dti_status dti_dequant_stated(struct dti_file_dequant *dequant,
                                   const struct dti_dequant_group *group,
                                   struct dti_dequant_found *ret, struct dti_error *reterr);

/* What a state says. */
struct dti_stored_state {
    unsigned seen;                   /* of its members: private */
    const struct dti_format *number; /* what the tensor was */
    uint64_t block, nested_block;    /* the latter 0: scales are not nested */
    unsigned rank;
    uint64_t shape[DTI_QUANT_RANK_MAX], elements;
    float offset;
};

/* dequant_match.c: fills all of *ret. */
enum dti_status dti_dequant_match(struct dti_file_dequant *dequant,
                                  const struct dti_dequant_knowledge *known,
                                  const struct dti_dequant_group *group,
                                  struct dti_dequant_found *ret, struct dti_error *reterr);

/* Parts of which values are read must be plain arrays of them. */
enum dti_status dti_dequant_check_part(const struct dti_dequant_part *part,
                                       struct dti_error *reterr);
/* Few bytes of a part, all that it has. */
enum dti_status dti_dequant_read_all(const struct dti_dequant_part *part, void *buffer, size_t size,
                                     struct dti_error *reterr);
/* The scale of the whole tensor, which is there, as it is stored. */
enum dti_status dti_dequant_tensor_scale(struct dti_file_dequant *dequant,
                                         const struct dti_dequant_group *group, float *ret,
                                         struct dti_error *reterr);
/* Bytes offset to offset + size - 1 of one. */
enum dti_status dti_dequant_read_part(const struct dti_dequant_part *part, void *buffer,
                                      size_t size, uint64_t offset, struct dti_error *reterr);
/* The tensor as the view has it: how.elements are known. */
enum dti_status dti_dequant_show(struct dti_file_dequant *dequant,
                                 const struct dti_dequant_group *group, unsigned rank,
                                 const uint64_t *shape, struct dti_dequant_found *ret,
                                 struct dti_error *reterr);

/* dequant_order.c: looks at the part DTI_PART_ORDER, the group of each of so many rows; sets
 * map->group_of where the order is not the usual one. Fails with DTI_BAD_INPUT. */
struct dti_order_shape {
    uint64_t rows, groups, group; /* group: how many rows share one */
};
enum dti_status dti_dequant_order_of(struct dti_file_dequant *dequant,
                                     const struct dti_dequant_group *group,
                                     const struct dti_order_shape *shape, struct dti_scale_map *map,
                                     struct dti_error *reterr);
/* The same of a matrix that is stored as it is shown, which is
 * of that shape: the group of each column, after all else is known. */
enum dti_status dti_dequant_order_columns(struct dti_file_dequant *dequant,
                                          const struct dti_dequant_group *group,
                                          const uint64_t *shape, struct dti_dequant_found *ret,
                                          struct dti_error *reterr);

/* dequant_rows.c: which row of the table the parts are by, the only one by which other numbers
 * would come out; fills *ret_scheme, and of ret->how and ret->form what follows from dtypes and
 * shapes. told: the shape of the numbers by the part that holds it, or NULL; otherwise it is
 * filled. */
enum dti_status dti_dequant_choose(const struct dti_dequant_knowledge *known,
                                   const struct dti_dequant_group *group, const uint64_t *given,
                                   uint64_t shape[DTI_QUANT_RANK_MAX],
                                   struct dti_dequant_scheme *ret_scheme,
                                   struct dti_dequant_found *ret, struct dti_error *reterr);

/* "uint3" and the like, which no row is of; or the row's name. */
const char *dti_dequant_scheme_name(const struct dti_dequant_scheme *scheme);

/* "[2, 3]"; for messages. */
enum { DTI_DEQUANT_SHAPE_TEXT = 160 };
const char *dti_dequant_shape_words(const struct dti_tensor *tensor,
                                    char buffer[DTI_DEQUANT_SHAPE_TEXT]);

/* dequant_shape.c: from the shapes of codes and scales to rows and maps. shape: of the numbers, of
 * the codes' rank; stored: the same with all padding. Looks at ret->how.bits, row_bytes and
 * elements. False: the scales' shape fits no way. */
struct dti_dequant_shape {
    unsigned rank;
    const uint64_t *shape, *stored;
    const struct dti_tensor *scales;
    const struct dti_quant_hint *hint; /* not NULL */
    bool words;                        /* codes are packed in them: there are no rectangles */
    bool rectangles;                   /* there is nothing else, by the name of the scales */
    bool powers;                       /* scales are fp8_e8m0: those of rectangles look like those
                                        * of blocks, unless their sides are the usual ones */
    struct dti_dequant_ambiguity *ambiguity; /* filled where there are two lengths */
};
bool dti_dequant_place_scales(const struct dti_dequant_shape *shape, unsigned block_length,
                              struct dti_dequant_found *ret);
/* The same where the file says what shares a scale: all, a place along the axis, or `group` of them
 * with all else alike. Of the shape, `stored`, the hint and what follows are not looked at; scales
 * have as many elements as that needs, and of groups the dimensions. */
void dti_dequant_place_known(const struct dti_dequant_shape *shape, enum dti_quant_per per,
                             unsigned axis, uint64_t group, struct dti_dequant_found *ret);

/* The rule of lint that the next refusal of the group is about, where its remedy does not tell. */
static inline void dti_dequant_set_rule(const struct dti_dequant_group *group,
                                        enum dti_lint_rule rule)
{
    group->view->refusal_rule = rule;
}
/* A refusal that names the part. */
enum dti_status dti_dequant_refuse(const struct dti_dequant_part *part, struct dti_error *reterr,
                                   enum dti_remedy remedy, const char *format, ...)
    DTI_PRINTF(4, 5);

#endif
