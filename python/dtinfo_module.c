/* SPDX-License-Identifier: MIT
 *
 * The module dtinfo._dtinfo, in the limited API of Python 3.11. */
#include <Python.h>

static PyObject *version(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyUnicode_FromString(DTI_VERSION);
}

static PyMethodDef functions[] = {
    {"version", version, METH_NOARGS, "version()\n--\n\nThe version of dtinfo, such as '0.1.0'."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {{0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_dtinfo",
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__dtinfo(void); /* Python.h does not declare it */

PyMODINIT_FUNC PyInit__dtinfo(void)
{
    return PyModuleDef_Init(&definition);
}
