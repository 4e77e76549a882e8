/* SPDX-License-Identifier: MIT
 *
 * The frontier of an answer of advise, with the choice, the other mixtures and the size that was
 * asked for. */
#ifndef CLI_ADVISE_ADVISE_PICTURE_H
#define CLI_ADVISE_ADVISE_PICTURE_H

#include "answers/advise/advise.h"
#include "cli/shell/command.h"

/* On the page. */
enum dti_status dti_advise_picture(const struct dti_command_context *cx,
                                   const struct dti_advise *advise, struct dti_error *reterr);
/* Appends an SVG document. */
enum dti_status dti_advise_svg(const struct dti_advise *advise, struct dti_buffer *ret,
                               struct dti_error *reterr);

#endif
