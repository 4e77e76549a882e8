/* SPDX-License-Identifier: MIT
 *
 * Settings of a caller: the options of a command by their names without dashes. Messages of the
 * layers below are those of the command line, and name options in its way; here they become a
 * caller's. */
#ifndef LIBRARY_SETTINGS_H
#define LIBRARY_SETTINGS_H

#include "dtinfo/file.h"
#include "library/context.h"
#include "requests/asker.h"
#include "requests/option.h"

/* Stores settings in zeroed args by the rows of a command. The texts must live as long as args.
 * Fails with DTI_UNKNOWN_OPTION for a name that is no setting of it, and DTI_USAGE for a value. */
enum dti_status dti_settings_store(const char *command, const struct dti_option *options,
                                   void *args, const struct dti_setting *settings, size_t count,
                                   struct dti_error *reterr);

/* A dti_remedy_words_fn: the text in a caller's words, and the advice. */
const char *dti_settings_words(char buffer[DTI_REMEDY_WORDS], enum dti_remedy remedy,
                               const char *text);
/* Puts an error into a caller's words; the remedy stays an id. Returns its status. */
enum dti_status dti_settings_fail(struct dti_error *reterr, enum dti_status status);

/* The context as one who asks. document: whether there will be one. */
struct dti_asker dti_settings_asker(const struct dti_context *context, const char *command,
                                    bool document);

#endif
