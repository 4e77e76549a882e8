/* SPDX-License-Identifier: MIT
 *
 * New files from files, and questions about files: what the commands of those names do. */
#include "py_state.h"

enum { SETTINGS = 256, PATHS = 8 };

struct rewrite_arguments {
    const char *verb, *what;
    PyObject *input, *output, *settings; /* settings: pairs of str */
};

struct rewrite {
    struct dti_setting settings[SETTINGS];
    size_t setting_count;
    PyObject *paths[PATHS]; /* bytes */
    const char *names[PATHS];
    size_t path_count;
};

static bool take_settings(PyObject *list, struct rewrite *ret)
{
    const Py_ssize_t count = list ? PySequence_Size(list) : 0;
    if (count < 0 || count > SETTINGS) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_ValueError, "more than %d settings", SETTINGS);
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *const pair = PySequence_GetItem(list, i); /* the list keeps it */
        const bool fine =
            pair && PyTuple_Check(pair) &&
            PyArg_ParseTuple(pair, "ss", &ret->settings[i].name, &ret->settings[i].value);
        Py_XDECREF(pair);
        if (!fine) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_TypeError, "settings are pairs of str");
            return false;
        }
    }
    ret->setting_count = (size_t)count;
    return true;
}

static bool take_path(PyObject *path, struct rewrite *ret)
{
    if (ret->path_count == PATHS) {
        PyErr_SetString(PyExc_ValueError, "too many paths");
        return false;
    }
    PyObject *bytes;
    if (!PyUnicode_FSConverter(path, &bytes))
        return false;
    ret->paths[ret->path_count] = bytes;
    ret->names[ret->path_count++] = PyBytes_AsString(bytes);
    return true;
}

static void drop(struct rewrite *rewrite)
{
    for (size_t i = 0; i < rewrite->path_count; i++)
        Py_DECREF(rewrite->paths[i]);
}

static PyObject *document(struct dti_py_state *state, char *text)
{
    PyObject *const result = text ? PyUnicode_FromString(text) : Py_NewRef(Py_None);
    if (text)
        dti_text_free(state->context, text);
    return result;
}

static PyObject *convert(PyObject *module, PyObject *const *args, Py_ssize_t nargs,
                         PyObject *kwnames)
{
    struct dti_py_state *const state = dti_py_state_of(module);
    struct rewrite_arguments given = {.verb = NULL};
    static const struct dti_py_parameter rows[] = {
        {"verb", DTI_PY_TEXT, offsetof(struct rewrite_arguments, verb), NULL},
        {"input", DTI_PY_OBJECT, offsetof(struct rewrite_arguments, input), NULL},
        {"what", DTI_PY_TEXT, offsetof(struct rewrite_arguments, what), NULL},
        {"output", DTI_PY_OBJECT, offsetof(struct rewrite_arguments, output), NULL},
        {"settings", DTI_PY_OBJECT, offsetof(struct rewrite_arguments, settings), NULL},
    };
    static const struct dti_py_signature signature = {"convert", rows, DTI_PY_COUNT(rows), 4, 5};
    struct rewrite rewrite = {.path_count = 0};
    PyObject *result = NULL;
    if (dti_py_arguments(state, &signature, args, nargs, kwnames, &given) &&
        take_settings(given.settings, &rewrite) &&
        take_path(given.input ? given.input : Py_None, &rewrite) &&
        take_path(given.output ? given.output : Py_None, &rewrite)) {
        struct dti_error error;
        char *report = NULL;
        const bool paused = dti_py_pause(SIZE_MAX);
        const enum dti_status status = dti_file_convert(
            state->context, given.verb ? given.verb : "", rewrite.names[0], given.what,
            rewrite.names[1], rewrite.settings, rewrite.setting_count, &report, &error);
        dti_py_resume(paused);
        result = status == DTI_OK ? document(state, report) : dti_py_fail(state, &error);
    }
    drop(&rewrite);
    return result;
}

static PyObject *ask(PyObject *module, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    struct dti_py_state *const state = dti_py_state_of(module);
    struct rewrite_arguments given = {.verb = NULL};
    static const struct dti_py_parameter rows[] = {
        {"question", DTI_PY_TEXT, offsetof(struct rewrite_arguments, verb), NULL},
        {"paths", DTI_PY_OBJECT, offsetof(struct rewrite_arguments, input), NULL},
        {"settings", DTI_PY_OBJECT, offsetof(struct rewrite_arguments, settings), NULL},
    };
    static const struct dti_py_signature signature = {"ask", rows, DTI_PY_COUNT(rows), 2, 3};
    struct rewrite rewrite = {.path_count = 0};
    bool fine = dti_py_arguments(state, &signature, args, nargs, kwnames, &given) &&
                take_settings(given.settings, &rewrite);
    const Py_ssize_t count = fine && given.input ? PySequence_Size(given.input) : 0;
    for (Py_ssize_t i = 0; fine && i < count; i++) {
        PyObject *const path = PySequence_GetItem(given.input, i);
        fine = path && take_path(path, &rewrite);
        Py_XDECREF(path);
    }
    PyObject *result = NULL;
    if (fine && !PyErr_Occurred()) {
        struct dti_error error;
        char *text = NULL;
        const bool paused = dti_py_pause(SIZE_MAX);
        const enum dti_status status = dti_file_ask(
            state->context, given.verb ? given.verb : "", rewrite.names, rewrite.path_count,
            rewrite.settings, rewrite.setting_count, &text, &error);
        dti_py_resume(paused);
        result = status == DTI_OK || status == DTI_ANSWER_NO
                     ? Py_BuildValue("(ON)", status == DTI_OK ? Py_True : Py_False,
                                     document(state, text))
                     : dti_py_fail(state, &error);
    }
    drop(&rewrite);
    return result;
}

#define FAST(function) ((PyCFunction)(void (*)(void))(function)), METH_FASTCALL | METH_KEYWORDS
PyMethodDef dti_py_rewrite_functions[] = {
    {"convert", FAST(convert), NULL},
    {"ask", FAST(ask), NULL},
    {NULL, NULL, 0, NULL},
};
