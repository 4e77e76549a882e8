/* SPDX-License-Identifier: MIT
 *
 * GMP and MPFR as a table of function pointers, because they are loaded only when a true value
 * or transcendental function is first needed: dti_multi.mpz_add(...). gmp.h and mpfr.h provide
 * the types. If these libraries run out of memory they do not return: see dti_calc_guarded(). */
#ifndef CALC_TRUTH_MULTI_H
#define CALC_TRUTH_MULTI_H

#define MPFR_USE_NO_MACRO /* keeps the names of functions usable after "dti_multi." */
#include <gmp.h>
#include <mpfr.h>

/* gmp.h renames most functions by macros, mpz_add to __gmpz_add; that renames both the member
 * and its uses. */
struct dti_multi {
#define MULTI_SYMBOL(library, name) __typeof__(&name) name;
#include "calc/truth/multi_symbols.def"
#undef MULTI_SYMBOL
};

/* Filled in by dti_multi_load() (truth.h). */
extern struct dti_multi dti_multi;

/* What their allocation functions call when memory runs out. */
_Noreturn void dti_multi_out_of_memory(void);

#endif
