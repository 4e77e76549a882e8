/* SPDX-License-Identifier: MIT
 *
 * Records of the parts of a divided run: which input, which recipe, which bytes. */
#ifndef FILES_REWRITE_PART_RECORDS_H
#define FILES_REWRITE_PART_RECORDS_H

#include "files/rewrite/new_files.h"

/* Of the input: names and sizes of its files, their headers, config.json beside them; 16 pieces of
 * 4 KiB of each file, unless it is behind an address. recipe: what else decides the bytes. The same
 * on every machine. Fails as reading does. */
enum dti_status dti_part_digests_of(const struct dti_container *container, const char *recipe,
                                    struct dti_part_digests *ret, struct dti_error *reterr);

/* The records of this run's shards are files of the same group, after all others: how many, and
 * where, once the sums have begun. */
size_t dti_part_record_count(const struct dti_new_files *files);
const char *dti_part_record_path(const struct dti_new_files *files, size_t at);
enum dti_status dti_part_sums_begin(struct dti_new_files *files, struct dti_error *reterr);
void dti_part_sums_free(struct dti_new_files *files);
/* Counts what is written into the shards of this run, which are open; then the records. */
void dti_part_sums_watch(struct dti_new_files *files);
enum dti_status dti_part_records_write(const struct dti_new_files *files, struct dti_error *reterr);
/* Removes those of this run's shards, before they are replaced; or of the others, when all is done.
 */
enum dti_status dti_part_records_remove(const struct dti_new_files *files, bool of_others,
                                        struct dti_error *reterr);

enum dti_part_state {
    DTI_PART_SAME,
    DTI_PART_UNRECORDED,
    DTI_PART_OTHER_INPUT,
    DTI_PART_OTHER_RECIPE,
    DTI_PART_OTHER_DATA,
};
/* What the record of a shard that is there says; data: reads all of the shard, too. */
enum dti_status dti_part_record_look(const struct dti_new_files *files,
                                     const struct dti_new_file *file, bool data,
                                     enum dti_part_state *ret, struct dti_error *reterr);

#endif
