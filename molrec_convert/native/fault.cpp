#include "fault.hpp"

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace molrec {

void raise_fault(const Fault& fault) {
    static const char* const names[] = {"none", "columns", "number", "range", "end"};
    nb::object type = nb::module_::import_("molrec_convert.text.faults").attr("ScanError");
    const char letter[] = {fault.letter, '\0'};
    nb::object error = type(names[fault.kind], nb::arg("row") = fault.row,
                            nb::arg("column") = fault.column, nb::arg("found") = fault.found,
                            nb::arg("due") = fault.due, nb::arg("letter") = nb::str(letter),
                            nb::arg("token") = nb::bytes(fault.token.data(), fault.token.size()));
    PyErr_SetObject(type.ptr(), error.ptr());
    throw nb::python_error();
}

}  // namespace molrec
