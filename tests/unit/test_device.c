/* SPDX-License-Identifier: MIT
 *
 * Device names. */
#include "devices/device.h"
#include "unit.h"

static void names_are_understood(void)
{
    static const struct {
        const char *text;
        enum dti_device_kind kind;
        unsigned number;
    } rows[] = {
        {NULL, DTI_DEVICE_CPU, 0},      {"cpu", DTI_DEVICE_CPU, 0},
        {"cuda", DTI_DEVICE_CUDA, 0},   {"cuda:0", DTI_DEVICE_CUDA, 0},
        {"cuda:1", DTI_DEVICE_CUDA, 1}, {"cuda:1023", DTI_DEVICE_CUDA, 1023},
        {"auto", DTI_DEVICE_AUTO, 0},   {"all", DTI_DEVICE_ALL, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct dti_device_choice choice = {DTI_DEVICE_ALL, 77};
        CHECK(dti_device_choice_parse(&choice, rows[i].text, NULL) == DTI_OK);
        CHECK(choice.kind == rows[i].kind);
        CHECK_U64(choice.number, rows[i].number);
    }
}

static void nonsense_is_refused(void)
{
    static const char *const texts[] = {"",
                                        "CPU",
                                        "cuda:",
                                        "cuda:-1",
                                        "cuda:01",
                                        "cuda:1 ",
                                        "cuda: 1",
                                        "cuda:+1",
                                        "gpu",
                                        "cuda:1024",
                                        "cuda:99999999999999999999",
                                        "cpu:0",
                                        "cuda1",
                                        "cuda:0x1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct dti_device_choice choice = {DTI_DEVICE_ALL, 77};
        struct dti_error error;
        if (!CHECK(dti_device_choice_parse(&choice, texts[i], &error) == DTI_USAGE))
            printf("'%s'\n", texts[i]);
        CHECK_STR(error.argument, texts[i]);
        CHECK(choice.kind == DTI_DEVICE_ALL && choice.number == 77);
    }
}

static void metal_is_said_to_be_elsewhere(void)
{
    struct dti_device_choice choice;
    struct dti_error error;
    CHECK(dti_device_choice_parse(&choice, "mps", &error) == DTI_UNAVAILABLE);
    CHECK_STR(error.text, "device 'mps' is not available: Metal exists on macOS only; use cpu");
}

UNIT_MAIN(names_are_understood, nonsense_is_refused, metal_is_said_to_be_elsewhere)
