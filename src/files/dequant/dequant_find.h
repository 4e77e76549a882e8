/* SPDX-License-Identifier: MIT
 *
 * Finds a tensor's parts by their names, and determines how to dequantize them. */
#ifndef FILES_DEQUANT_DEQUANT_FIND_H
#define FILES_DEQUANT_DEQUANT_FIND_H

#include "files/dequant/dequant_parts.h"
#include "files/stored/quant_reading.h"

struct dti_dequant_group {
    const char *name; /* X; not NUL-terminated */
    size_t name_length;
    size_t at;          /* index of the codes tensor in the container */
    bool packed_name;   /* it is named X_packed */
    bool free_name;     /* an npy file: names carry no information */
    bool inverse;       /* scales are named X_scale_inv: they belong to rectangles, and are factors
                         * despite the name */
    bool sibling_scale; /* X is Y.weight and scales are named Y.scale: for rectangles or blocks */
    const struct dti_quant_row *stated;       /* the row that its state names; or NULL */
    const struct dti_layout_ops *layout_read; /* a layout of dequant_layouts.h; or NULL */
    struct dti_file_dequant *view;            /* the view that contains it */
    bool bound;                               /* only rows of `layout` apply */
    enum dti_quant_layout layout;
    bool has_entry, entry_high; /* a metadata entry exists */
    const char *entry_dtype;
    uint64_t entry_group;                         /* group length; 0: none */
    struct dti_dequant_part part[DTI_PART_COUNT]; /* by enum dti_quant_part; container NULL:
                                                   * missing */
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

/* What is known about a tensor apart from its parts. */
struct dti_dequant_knowledge {
    const struct dti_quant_hint *hints; /* it follows one of them */
    size_t count;                       /* at least 1 */
    const char *source;                 /* where this comes from: "config.json"; for messages */
    bool configured;                    /* from a configuration file, for a whole checkpoint */
    const char *rule;                   /* the name or pattern that matched the module; or NULL */
    size_t rule_length;
};

/* dequant_find.c: takes a codes tensor with its existing parts, unless patterns exclude it; then
 * *ret is unchanged. */
enum dti_status dti_dequant_take(struct dti_file_dequant *dequant, struct dti_dequant_group *group,
                                 struct dti_dequant_found **ret, struct dti_error *reterr);

/* The metadata entry about the tensor; NULL: none. */
const struct dti_metadata *dti_dequant_entry(struct dti_file_dequant *dequant,
                                             const struct dti_dequant_group *group);

/* dequant_configured.c: what the configuration says about a tensor. Reads the configuration on
 * first use. Fails for a tensor that a loader would read as plain numbers, unless the caller
 * specifies how to read it. */
enum dti_status dti_dequant_configured(struct dti_file_dequant *dequant,
                                       const struct dti_dequant_group *group,
                                       struct dti_quant_module *ret, struct dti_error *reterr);

/* Same for a tensor without other known problems. OPEN: the configuration says nothing about it.
 * PLAIN: it is not quantized, or *ret is not filled for another reason. */
enum dti_dequant_statement { DTI_MODULE_OPEN, DTI_MODULE_PLAIN, DTI_MODULE_QUANTIZED };
enum dti_dequant_statement dti_dequant_statement(struct dti_file_dequant *dequant,
                                                 const struct dti_tensor *tensor,
                                                 struct dti_quant_module *ret);
/* The suffix that the configuration's layout uses for the scale of Y.weight with codes of this
 * class; NULL: the layout does not name codes that way. */
const char *dti_dequant_scale_name(const struct dti_quant_config *config,
                                   const struct dti_quant_module *module, int class);

/* How the codes are encoded. */
struct dti_dequant_scheme {
    const struct dti_quant_row *row;
    const struct dti_block_format *block; /* NULL: affine codes: */
    struct dti_format code;               /* of a code; WORDS: unsigned, as stored */
    unsigned bits;
    bool asymmetric; /* zero points are expected */
    bool ordered;    /* columns are expected to have a custom group order */
};

/* What shapes leave open: two lengths along an axis, or several widths; else all zeros. */
struct dti_dequant_ambiguity {
    unsigned axis;
    struct dti_quant_lengths lengths; /* `other` 0: not ambiguous */
    unsigned widths;                  /* a bit set, as from dti_quant_widths() */
    bool crossing;                    /* codes may or may not cross word boundaries */
    bool unsigned_codes;              /* uint8 codes without zero points, which may be packed
                                       * narrower codes */
};

/* dequant_state.c: same for a tensor with a state, which leaves nothing open. */
enum dti_status dti_dequant_stated(struct dti_file_dequant *dequant,
                                   const struct dti_dequant_group *group,
                                   struct dti_dequant_found *ret, struct dti_error *reterr);

/* The content of a state. */
struct dti_stored_state {
    unsigned seen;                   /* which members were seen; private */
    const struct dti_format *number; /* original dtype of the tensor */
    uint64_t block, nested_block;    /* nested_block 0: scales are not nested */
    unsigned rank;
    uint64_t shape[DTI_QUANT_RANK_MAX], elements;
    float offset;
};

/* dequant_match.c: fills all of *ret. */
enum dti_status dti_dequant_match(struct dti_file_dequant *dequant,
                                  const struct dti_dequant_knowledge *known,
                                  const struct dti_dequant_group *group,
                                  struct dti_dequant_found *ret, struct dti_error *reterr);

/* Fails unless the part is a plain array; needed for parts whose values are read. */
enum dti_status dti_dequant_check_part(const struct dti_dequant_part *part,
                                       struct dti_error *reterr);
/* Reads all bytes of a small part. */
enum dti_status dti_dequant_read_all(const struct dti_dequant_part *part, void *buffer, size_t size,
                                     struct dti_error *reterr);
/* Reads the scale of the whole tensor, which must exist, as stored. */
enum dti_status dti_dequant_tensor_scale(struct dti_file_dequant *dequant,
                                         const struct dti_dequant_group *group, float *ret,
                                         struct dti_error *reterr);
/* Fills the tensor as the view shows it; how.elements must be set. */
enum dti_status dti_dequant_show(struct dti_file_dequant *dequant,
                                 const struct dti_dequant_group *group, unsigned rank,
                                 const uint64_t *shape, struct dti_dequant_found *ret,
                                 struct dti_error *reterr);

/* dequant_order.c: reads the part DTI_PART_ORDER, which has the group of each of `rows` rows; sets
 * map->group_of if the order is not the default one. Fails with DTI_BAD_INPUT. */
struct dti_order_shape {
    uint64_t rows, groups, group; /* group: number of rows in a group */
};
enum dti_status dti_dequant_order_of(struct dti_file_dequant *dequant,
                                     const struct dti_dequant_group *group,
                                     const struct dti_order_shape *shape, struct dti_scale_map *map,
                                     struct dti_error *reterr);
/* Same for a matrix that is not transposed, of the given shape: the group of each column. Call it
 * after everything else is known. */
enum dti_status dti_dequant_order_columns(struct dti_file_dequant *dequant,
                                          const struct dti_dequant_group *group,
                                          const uint64_t *shape, struct dti_dequant_found *ret,
                                          struct dti_error *reterr);

/* dequant_rows.c: finds the row of the table that the parts follow; all rows that fit must give the
 * same numbers. Fills *ret_scheme, and in ret->how and ret->form what follows from dtypes and
 * shapes. given: the shape of the numbers from the part that stores it, or NULL. shape: filled if
 * given is NULL. */
enum dti_status dti_dequant_choose(const struct dti_dequant_knowledge *known,
                                   const struct dti_dequant_group *group, const uint64_t *given,
                                   uint64_t shape[DTI_QUANT_RANK_MAX],
                                   struct dti_dequant_scheme *ret_scheme,
                                   struct dti_dequant_found *ret, struct dti_error *reterr);

/* "uint3" and the like, which have no row; or the row's name. */
const char *dti_dequant_scheme_name(const struct dti_dequant_scheme *scheme);

/* "[2, 3]"; for messages. */
enum { DTI_DEQUANT_SHAPE_TEXT = 160 };
const char *dti_dequant_shape_words(const struct dti_tensor *tensor,
                                    char buffer[DTI_DEQUANT_SHAPE_TEXT]);

/* dequant_shape.c: derives rows and maps from the shapes of codes and scales. shape: of the
 * numbers, with the rank of the codes; stored: the same including padding. Uses ret->how.bits,
 * row_bytes and elements. Returns false if the shape of the scales does not fit. */
struct dti_dequant_shape {
    unsigned rank;
    const uint64_t *shape, *stored;
    const struct dti_tensor *scales;
    const struct dti_quant_hint *hint; /* not NULL */
    bool words;                        /* codes are packed in words, so there are no rectangles */
    bool rectangles;                   /* only rectangles are possible, by the name of the scales */
    bool powers;                       /* scales are fp8_e8m0: those of rectangles look like those
                                        * of blocks, unless the sides have the default length */
    struct dti_dequant_ambiguity *ambiguity; /* filled if two lengths are possible */
};
/* Whether scales of a matrix are [rows, 1, columns, 1], as those of ModelOpt's FP8_PB_WO; ret: rows
 * and columns. */
bool dti_dequant_is_spread(const struct dti_tensor *scales, unsigned rank, uint64_t ret[2]);
bool dti_dequant_place_scales(const struct dti_dequant_shape *shape, unsigned block_length,
                              struct dti_dequant_found *ret);
/* Same where the file specifies what shares a scale: the whole tensor, one index along the axis, or
 * `group` adjacent ones with all other indices equal. Ignores `stored`, the hint and the members
 * after it. The scales have as many elements as needed and, for groups, the same dimensions. */
void dti_dequant_place_known(const struct dti_dequant_shape *shape, enum dti_quant_per per,
                             unsigned axis, uint64_t group, struct dti_dequant_found *ret);

/* Sets the lint rule of the group's next refusal, where its remedy does not imply it. */
static inline void dti_dequant_set_rule(const struct dti_dequant_group *group,
                                        enum dti_lint_rule rule)
{
    group->view->refusal_rule = rule;
}
/* Fails with a message that names the part. */
enum dti_status dti_dequant_refuse(const struct dti_dequant_part *part, struct dti_error *reterr,
                                   enum dti_remedy remedy, const char *format, ...)
    DTI_PRINTF(4, 5);

#endif
