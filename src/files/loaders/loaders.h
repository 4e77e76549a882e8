/* SPDX-License-Identifier: MIT
 *
 * What programs that load models do with files, layouts and dtypes, by release: the rows of
 * loader_rules.def. Knows no files: callers say what a file has, in the words of that table. */
#ifndef FILES_LOADERS_LOADERS_H
#define FILES_LOADERS_LOADERS_H

#include <stdbool.h>
#include <stddef.h>

enum dti_loader {
#define LOADER(id, ...) DTI_LOADER_##id,
#include "files/loaders/loader_rules.def"
#undef LOADER
    DTI_LOADERS
};
struct dti_loader_row {
    char name[16];    /* for --loader */
    char program[16]; /* as lint_effects.def spells it */
    char examined[12];
};
extern const struct dti_loader_row dti_loaders[DTI_LOADERS];
/* The loader of that name; DTI_LOADERS: none. */
enum dti_loader dti_loader_named(const char *name, size_t length);

enum dti_loader_topic {
    DTI_LOADER_KIND,
    DTI_LOADER_CONFIG,
    DTI_LOADER_METHOD,
    DTI_LOADER_LAYOUT,
    DTI_LOADER_DTYPE,
    DTI_LOADER_GGUF,
    DTI_LOADER_ARCH,
    DTI_LOADER_TOPICS
};
enum dti_loader_verdict {
    DTI_LOADER_UNKNOWN,
    DTI_LOADER_LOADS,
    DTI_LOADER_REFUSES,
    DTI_LOADER_MISREADS,
    DTI_LOADER_VERDICTS
};
/* "kind"; "loads". NULL behind the last one. */
const char *dti_loader_topic_word(size_t topic);
const char *dti_loader_verdict_word(size_t verdict);

/* A row of the table; texts may be empty. */
struct dti_loader_rule {
    enum dti_loader loader;
    enum dti_loader_topic topic;
    enum dti_loader_verdict verdict;
    const char *subject, *lacks, *has, *gone, *note, *source;
};
/* Row number `index`; false behind the last one. */
bool dti_loader_rule(size_t index, struct dti_loader_rule *ret);

/* "0.28.0", "v0.28", "b6451": numbers between dots. All zeros: not given. */
struct dti_loader_release {
    unsigned number[4];
    bool given;
};
/* False if the text is no release. */
bool dti_loader_release_read(const char *text, size_t length, struct dti_loader_release *ret);
/* Below, equal to or above 0, as strcmp(). Missing numbers are 0. */
int dti_loader_release_compare(const struct dti_loader_release *a,
                               const struct dti_loader_release *b);

/* Why a verdict is what it is. */
enum dti_loader_ground {
    DTI_LOADER_RULED,   /* by the row */
    DTI_LOADER_TOO_OLD, /* the release is known to lack it: REFUSES */
    DTI_LOADER_GONE,    /* the release, or the newest one, has lost it: REFUSES */
    DTI_LOADER_UNDATED, /* the release is older than those of the row: UNKNOWN */
    DTI_LOADER_NO_RULE, /* UNKNOWN */
};
struct dti_loader_ruling {
    enum dti_loader_verdict verdict;
    enum dti_loader_ground ground;
    struct dti_loader_rule rule; /* unless NO_RULE */
};
/* The verdict of a release, or of the newest one if it is not given. */
void dti_loader_judge(struct dti_loader_ruling *ret, enum dti_loader loader,
                      const struct dti_loader_release *release, enum dti_loader_topic topic,
                      const char *subject);

#endif
