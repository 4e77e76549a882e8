/* SPDX-License-Identifier: MIT
 *
 * What a plan is written as: the rows of advise_forms.def; and the documents of other programs that
 * say of each module what it becomes, as `quant` writes them into the new files. */
#ifndef ANSWERS_ADVISE_ADVISE_FORMS_H
#define ANSWERS_ADVISE_ADVISE_FORMS_H

#include "files/advise/advise_loaders.h"
#include "files/rewrite/rewrite.h"
#include "util/buffer.h"

enum dti_advise_form {
#define ADVISE_FORM(id, ...) DTI_ADVISE_AS_##id,
#include "answers/advise/advise_forms.def"
    DTI_ADVISE_FORMS
};
struct dti_advise_form_row {
    char word[20];
    enum dti_advise_loader loader; /* DTI_ADVISE_LOADERS: any */
    char menu[24], label[44];
};
const struct dti_advise_form_row *dti_advise_form_row(enum dti_advise_form form);

/* Whether ModelOpt has an algorithm for a format. per: of formats without blocks. */
bool dti_advise_has_algorithm(const char *format, enum dti_quant_per per);

/* Appends the document of a rewrite by the plan; nothing for forms that need none. Fails with
 * DTI_WRONG_KIND: the form has no word for it; DTI_NO_MEMORY. */
enum dti_status dti_advise_document(enum dti_advise_form form, const struct dti_rewrite *rewrite,
                                    struct dti_buffer *ret, struct dti_error *reterr);

#endif
