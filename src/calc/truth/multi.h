/* SPDX-License-Identifier: MIT
 *
 * GMP and MPFR as a table of their functions, since they are loaded when the first true value or
 * transcendental function is asked for: dti_multi.mpz_add(...). gmp.h and mpfr.h give the types.
 * Where memory runs out in them, they do not return: see dti_calc_guarded(). */
#ifndef CALC_TRUTH_MULTI_H
#define CALC_TRUTH_MULTI_H

#define MPFR_USE_NO_MACRO /* names of functions stay such behind "dti_multi." */
#include <gmp.h>
#include <mpfr.h>

/* gmp.h renames most functions, mpz_add to __gmpz_add: here both the member and those who name it
 * are renamed alike. */
struct dti_multi {
#define MULTI_SYMBOL(library, name) __typeof__(&name) name;
#include "calc/truth/multi_symbols.def"
#undef MULTI_SYMBOL
};

/* Filled in by dti_multi_load() (truth.h). */
extern struct dti_multi dti_multi;

/* What their functions of memory do where there is none. */
_Noreturn void dti_multi_out_of_memory(void);

#endif
