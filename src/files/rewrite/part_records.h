/* SPDX-License-Identifier: MIT
 *
 * Records of the parts of a divided run: which input, which recipe, which bytes. */
#ifndef FILES_REWRITE_PART_RECORDS_H
#define FILES_REWRITE_PART_RECORDS_H

#include "files/rewrite/new_files.h"

/* Digests of the input: names and sizes of its files, their headers, the config.json next to them;
 * sample: 16 pieces of 4 KiB of each file, unless it is remote. recipe: everything else that
 * determines the bytes. Identical on every machine. Fails as reading does. */
enum dti_status dti_part_digests_of(const struct dti_container *container, const char *recipe,
                                    struct dti_part_digests *ret, struct dti_error *reterr);

/* The records of this run's shards are files of the same group, after all others: their number and
 * paths, valid after dti_part_sums_begin(). */
size_t dti_part_record_count(const struct dti_new_files *files);
const char *dti_part_record_path(const struct dti_new_files *files, size_t at);
enum dti_status dti_part_sums_begin(struct dti_new_files *files, struct dti_error *reterr);
void dti_part_sums_free(struct dti_new_files *files);
/* Computes checksums of what is written into this run's open shards; then writes the records. */
void dti_part_sums_watch(struct dti_new_files *files);
enum dti_status dti_part_records_write(const struct dti_new_files *files, struct dti_error *reterr);
/* Removes the records of this run's shards, before they are replaced; or, when all is done, those
 * of the others. */
enum dti_status dti_part_records_remove(const struct dti_new_files *files, bool of_others,
                                        struct dti_error *reterr);

enum dti_part_state {
    DTI_PART_SAME,
    DTI_PART_UNRECORDED,
    DTI_PART_OTHER_INPUT,
    DTI_PART_OTHER_RECIPE,
    DTI_PART_OTHER_DATA,
};
/* Evaluates the record of an existing shard; data: also reads the whole shard. */
enum dti_status dti_part_record_look(const struct dti_new_files *files,
                                     const struct dti_new_file *file, bool data,
                                     enum dti_part_state *ret, struct dti_error *reterr);

#endif
