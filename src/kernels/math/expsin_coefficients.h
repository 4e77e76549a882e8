/* SPDX-License-Identifier: MIT
 *
 * Made by tools/expsin_coefficients.py: constants of exp(sin x). */
#ifndef KERNELS_MATH_EXPSIN_COEFFICIENTS_H
#define KERNELS_MATH_EXPSIN_COEFFICIENTS_H

/* clang-format off */
/* fp32: 1/pi, and pi in two parts. */
#define DTI_EXPSIN_PI_F32 { \
        0x1.45f306p-2f, 0x1.921fb6p+1f, -0x1.777a5cp-24f}

/* The same of a sixteenth of pi, the step of the table. */
#define DTI_EXPSIN_STEP_F32 { \
        0x1.45f306p+2f, 0x1.921fb6p-3f, -0x1.777a5cp-28f}

/* fp64: 1/pi, and pi in two parts. */
#define DTI_EXPSIN_PI_F64 { \
        0x1.45f306dc9c883p-2, 0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53}

/* pi in parts of 33, 33 and 53 bits: the first two times 20 bits are exact. */
#define DTI_EXPSIN_PI_PARTS_F64 { \
        0x1.921fb544p+1, 0x1.0b4611a6p-33, 0x1.3198a2e037073p-68}

/* 1/pi in binary, from 2^-1 down. */
#define DTI_EXPSIN_INVERSE_PI { \
        UINT64_C(0x517cc1b727220a94), UINT64_C(0xfe13abe8fa9a6ee0), \
        UINT64_C(0x6db14acc9e21c820), UINT64_C(0xff28b1d5ef5de2b0), \
        UINT64_C(0xdb92371d2126e970), UINT64_C(0x0324977504e8c90e), \
        UINT64_C(0x7f0ef58e5894d39f), UINT64_C(0x74411afa975da242), \
        UINT64_C(0x74ce38135a2fbf20), UINT64_C(0x9cc8eb1cc1a99cfa), \
        UINT64_C(0x4e422fc5defc941d), UINT64_C(0x8ffc4bffef02cc07), \
        UINT64_C(0xf79788c5ad05368f), UINT64_C(0xb69b3f6793e584db), \
        UINT64_C(0xa7a31fb34f2ff516), UINT64_C(0xba93dd63f5f2f8bd), \
        UINT64_C(0x9e839cfbc5294975), UINT64_C(0x35fdafd88fc6ae84), \
        UINT64_C(0x2b0198237e3db5d5), UINT64_C(0xf867de104d7a1b0e)}

/* sin r = r + r^3 P(r^2) for r up to 1.62: P. */
#define DTI_EXPSIN_SINE_F32(first, next) \
        first(0x1.5b6198p-19f) next(-0x1.9f422ep-13f) next(0x1.110dcp-7f) next(-0x1.555544p-3f)

/* sin r = r + r^3 P(r^2) for r up to 1.571: P. */
#define DTI_EXPSIN_SINE_F64(first, next) \
        first(0x1.8810a43538d69p-49) next(-0x1.ae422f514bc2dp-41) next(0x1.6123c7a463208p-33) \
        next(-0x1.ae6454be20e57p-26) next(0x1.71de3a526f0e6p-19) next(-0x1.a01a01a01467fp-13) \
        next(0x1.11111111110c2p-7) next(-0x1.5555555555555p-3)

/* exp s = 1 + s + s^2 P(s) for s up to 1: P. */
#define DTI_EXPSIN_EXP_F32(first, next) \
        first(0x1.4c9c18p-19f) next(0x1.a99832p-16f) next(0x1.a16b36p-13f) next(0x1.6bfe72p-10f) \
        next(0x1.110da6p-7f) next(0x1.55557cp-5f) next(0x1.55556p-3f) next(0x1.0p-1f)

/* exp s = 1 + s + s^2 P(s) for s up to 1: P. */
#define DTI_EXPSIN_EXP_F64(first, next) \
        first(0x1.c770f602102e4p-45) next(0x1.b62cdc8382e1cp-41) next(0x1.9345d594c0458p-37) \
        next(0x1.61153457984d9p-33) next(0x1.1eee01aee15c7p-29) next(0x1.ae6475fc43b9bp-26) \
        next(0x1.27e4fad280979p-22) next(0x1.71de3a30de622p-19) next(0x1.a01a01a111a3p-16) \
        next(0x1.a01a01a048923p-13) next(0x1.6c16c16c160fdp-10) next(0x1.1111111110f3dp-7) \
        next(0x1.555555555555bp-5) next(0x1.5555555555557p-3) next(0x1.0p-1)

enum { DTI_EXPSIN_TABLE = 32, DTI_EXPSIN_TABLE_DEGREE = 5 };

/* exp(sin(pi j / 16 + r)) by powers of r, the lowest first: 32 for each power. */
#define DTI_EXPSIN_TABLE_F32 { \
        {0x1.0p+0f, 0x1.3725dp+0f, 0x1.7759cap+0f, 0x1.be30f6p+0f, 0x1.039946p+1f, \
        0x1.25f9fcp+1f, 0x1.42700ap+1f, 0x1.55517ep+1f, 0x1.5bf0a8p+1f, 0x1.55517ep+1f, \
        0x1.42700ap+1f, 0x1.25f9fcp+1f, 0x1.039946p+1f, 0x1.be30f6p+0f, 0x1.7759cap+0f, \
        0x1.3725dp+0f, 0x1.0p+0f, 0x1.a540d8p-1f, 0x1.5d32ep-1f, 0x1.25c1e8p-1f, 0x1.f8e7p-2f, \
        0x1.bddbd6p-2f, 0x1.9680dep-2f, 0x1.800452p-2f, 0x1.78b564p-2f, 0x1.800452p-2f, \
        0x1.9680dep-2f, 0x1.bddbd6p-2f, 0x1.f8e7p-2f, 0x1.25c1e8p-1f, 0x1.5d32ep-1f, \
        0x1.a540d8p-1f}, {0x1.0p+0f, 0x1.312b4ap+0f, 0x1.5ac764p+0f, 0x1.72fe96p+0f, \
        0x1.6f20c6p+0f, 0x1.46a632p+0f, 0x1.ed90f2p-1f, 0x1.0a5a02p-1f, 0.0f, -0x1.0a5a02p-1f, \
        -0x1.ed90f2p-1f, -0x1.46a632p+0f, -0x1.6f20c6p+0f, -0x1.72fe96p+0f, -0x1.5ac764p+0f, \
        -0x1.312b4ap+0f, -0x1.0p+0f, -0x1.9d28b6p-1f, -0x1.429e18p-1f, -0x1.e88032p-2f, \
        -0x1.650516p-2f, -0x1.ef6964p-3f, -0x1.371fcep-3f, -0x1.2bac02p-4f, 0.0f, \
        0x1.2bac02p-4f, 0x1.371fcep-3f, 0x1.ef6964p-3f, 0x1.650516p-2f, 0x1.e88032p-2f, \
        0x1.429e18p-1f, 0x1.9d28b6p-1f}, {0x1.000008p-1f, 0x1.dd34bp-2f, 0x1.617ad6p-2f, \
        0x1.e49f5cp-4f, -0x1.ae2052p-3f, -0x1.3363bep-1f, -0x1.f558acp-1f, -0x1.41c492p+0f, \
        -0x1.5bf02cp+0f, -0x1.41c492p+0f, -0x1.f558acp-1f, -0x1.3363bep-1f, -0x1.ae2052p-3f, \
        0x1.e49f5cp-4f, 0x1.617ad6p-2f, 0x1.dd34bp-2f, 0x1.000008p-1f, 0x1.e76754p-2f, \
        0x1.afb17cp-2f, 0x1.6e4a5ap-2f, 0x1.30bc6cp-2f, 0x1.fc5624p-3f, 0x1.b31764p-3f, \
        0x1.8740fep-3f, 0x1.78b56p-3f, 0x1.8740fep-3f, 0x1.b31764p-3f, 0x1.fc5624p-3f, \
        0x1.30bc6cp-2f, 0x1.6e4a5ap-2f, 0x1.afb17cp-2f, 0x1.e76754p-2f}, {-0x1.d98c84p-20f, \
        -0x1.fb4344p-4f, -0x1.2b44fp-2f, -0x1.e8909p-2f, -0x1.40c8bcp-1f, -0x1.5adefcp-1f, \
        -0x1.2a3582p-1f, -0x1.5aa284p-2f, 0.0f, 0x1.5aa284p-2f, 0x1.2a3582p-1f, 0x1.5adefcp-1f, \
        0x1.40c8bcp-1f, 0x1.e8909p-2f, 0x1.2b44fp-2f, 0x1.fb4344p-4f, 0x1.d98c84p-20f, \
        -0x1.2d70e2p-4f, -0x1.aed7dep-4f, -0x1.ba459cp-4f, -0x1.81e556p-4f, -0x1.29c11p-4f, \
        -0x1.8dd7d6p-5f, -0x1.8ba6c2p-6f, 0.0f, 0x1.8ba6c2p-6f, 0x1.8dd7d6p-5f, 0x1.29c11p-4f, \
        0x1.81e556p-4f, 0x1.ba459cp-4f, 0x1.aed7dep-4f, 0x1.2d70e2p-4f}, {-0x1.002204p-3f, \
        -0x1.834306p-3f, -0x1.dce7f6p-3f, -0x1.cc5d64p-3f, -0x1.1dc0bep-3f, 0x1.6bd188p-6f, \
        0x1.c449c4p-3f, 0x1.8bcb8cp-2f, 0x1.ce03c4p-2f, 0x1.8bcb8cp-2f, 0x1.c449c4p-3f, \
        0x1.6bd188p-6f, -0x1.1dc0bep-3f, -0x1.cc5d64p-3f, -0x1.dce7f6p-3f, -0x1.834306p-3f, \
        -0x1.002204p-3f, -0x1.0884f4p-4f, -0x1.3b7eeap-6f, 0x1.296136p-7f, 0x1.85e9aep-6f, \
        0x1.e7601ep-6f, 0x1.fe4a76p-6f, 0x1.fa76d6p-6f, 0x1.f668fcp-6f, 0x1.fa76d6p-6f, \
        0x1.fe4a76p-6f, 0x1.e7601cp-6f, 0x1.85e9aep-6f, 0x1.296136p-7f, -0x1.3b7eecp-6f, \
        -0x1.0884f4p-4f}, {-0x1.100388p-4f, -0x1.ebaceep-5f, -0x1.87738p-6f, 0x1.6c34ep-5f, \
        0x1.07cc9ap-3f, 0x1.8c52p-3f, 0x1.970932p-3f, 0x1.038ee2p-3f, 0.0f, -0x1.038ee2p-3f, \
        -0x1.970932p-3f, -0x1.8c52p-3f, -0x1.07cc96p-3f, -0x1.6c34ep-5f, 0x1.87738p-6f, \
        0x1.ebaceep-5f, 0x1.100388p-4f, 0x1.c1083cp-5f, 0x1.305688p-5f, 0x1.594d16p-6f, \
        0x1.3d614p-7f, 0x1.984886p-9f, 0x1.b957c2p-13f, -0x1.b8d3aep-12f, 0.0f, 0x1.b8d3aep-12f, \
        -0x1.b957c2p-13f, -0x1.984896p-9f, -0x1.3d614p-7f, -0x1.594d16p-6f, -0x1.305678p-5f, \
        -0x1.c1083cp-5f}}
/* clang-format on */

#endif
