"""A binding of the part of libclang's C interface that cu2port uses. Only the child process loads it.

Our own, because the wheels' `clang.cindex` costs ten times as much a cursor, and one of them adds its own C++ library
to every parse. Works with libclang 18 and 22; a missing function is an OSError that names it.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from ctypes import POINTER, Structure, c_char_p, c_int, c_longlong, c_uint, c_ulong, c_ulonglong, c_void_p
from importlib.util import find_spec
from pathlib import Path
from typing import Any

INCOMPLETE, DETAILED_RECORD, SINGLE_FILE, KEEP_GOING, FOR_SERIALIZATION = 0x02, 0x01, 0x400, 0x200, 0x10
BREAK, CONTINUE, RECURSE = 0, 1, 2
SEVERITY_ERROR = 3

# Cursor kinds that are acted on (clang-c/Index.h).
ENUMERATION, ENUMERATOR, FUNCTION, CONSTRUCTOR, OVERLOADED_DECL_REF = 5, 7, 8, 24, 49
UNEXPOSED_EXPR, DECL_REF_EXPR, MEMBER_REF_EXPR = 100, 101, 102
TRANSLATION_UNIT, MACRO_DEFINITION, INCLUSION = (300, 350), 501, 503
KINDS = {
    2: "type", 3: "type", 4: "type", 5: "type", 6: "member", 7: "enumerator", 8: "function", 9: "variable",
    10: "parameter", 20: "type",
    21: "method", 22: "namespace", 24: "method", 25: "method", 26: "method", 27: "type", 28: "parameter",
    29: "type", 30: "function", 31: "type", 32: "type", 33: "namespace", 36: "type", 501: "macro",
}  # fmt: skip
# Type kinds: Bool .. Int128 without float; 106 is an enumeration.
UNSIGNED, SIGNED, ENUM = frozenset({3, 4, 5, 6, 7, 8, 9, 10, 11, 12}), frozenset({13, 14, 15, 16, 17, 18, 19, 20}), 106
# Types whose size may be asked for: asking for that of an overload set or of a method without its object is a crash.
# Numbers, complex numbers, pointers, references, classes, enumerations, arrays, vectors.
SIZED = UNSIGNED | SIGNED | frozenset({21, 22, 23, 30, 31, 32, 39, 100, 101, 103, 104, 105, ENUM, 112, 113, 176})


class String(Structure):
    _fields_ = (("data", c_void_p), ("flags", c_uint))


class Location(Structure):
    _fields_ = (("data", c_void_p * 2), ("int_data", c_uint))


class Range(Structure):
    _fields_ = (("data", c_void_p * 2), ("begin", c_uint), ("end", c_uint))


class Cursor(Structure):
    _fields_ = (("kind", c_int), ("xdata", c_int), ("data", c_void_p * 3))


class Type(Structure):
    _fields_ = (("kind", c_int), ("data", c_void_p * 2))


class Unsaved(Structure):
    _fields_ = (("name", c_char_p), ("contents", c_char_p), ("length", c_ulong))


class Ranges(Structure):
    _fields_ = (("count", c_uint), ("ranges", POINTER(Range)))


Visitor = ctypes.CFUNCTYPE(c_int, Cursor, Cursor, c_void_p)
InclusionVisitor = ctypes.CFUNCTYPE(None, c_void_p, POINTER(Location), c_uint, c_void_p)

_FUNCTIONS: dict[str, tuple[object, list[object]]] = {
    "clang_Cursor_Evaluate": (c_void_p, [Cursor]),
    "clang_Cursor_isNull": (c_int, [Cursor]),
    "clang_EvalResult_dispose": (None, [c_void_p]),
    "clang_EvalResult_getAsLongLong": (c_longlong, [c_void_p]),
    "clang_EvalResult_getAsUnsigned": (c_ulonglong, [c_void_p]),
    "clang_EvalResult_getKind": (c_int, [c_void_p]),
    "clang_EvalResult_isUnsignedInt": (c_uint, [c_void_p]),
    "clang_Type_getSizeOf": (c_longlong, [Type]),
    "clang_createIndex": (c_void_p, [c_int, c_int]),
    "clang_disposeDiagnostic": (None, [c_void_p]),
    "clang_disposeIndex": (None, [c_void_p]),
    "clang_disposeSourceRangeList": (None, [POINTER(Ranges)]),
    "clang_disposeString": (None, [String]),
    "clang_disposeTranslationUnit": (None, [c_void_p]),
    "clang_equalCursors": (c_uint, [Cursor, Cursor]),
    "clang_getCString": (c_char_p, [String]),
    "clang_getCanonicalCursor": (Cursor, [Cursor]),
    "clang_getCanonicalType": (Type, [Type]),
    "clang_getClangVersion": (String, []),
    "clang_getCursor": (Cursor, [c_void_p, Location]),
    "clang_getCursorExtent": (Range, [Cursor]),
    "clang_getCursorLocation": (Location, [Cursor]),
    "clang_getCursorReferenced": (Cursor, [Cursor]),
    "clang_getCursorSemanticParent": (Cursor, [Cursor]),
    "clang_getCursorSpelling": (String, [Cursor]),
    "clang_getCursorType": (Type, [Cursor]),
    "clang_getDiagnostic": (c_void_p, [c_void_p, c_uint]),
    "clang_getDiagnosticLocation": (Location, [c_void_p]),
    "clang_getDiagnosticSeverity": (c_int, [c_void_p]),
    "clang_getDiagnosticSpelling": (String, [c_void_p]),
    "clang_getEnumDeclIntegerType": (Type, [Cursor]),
    "clang_getFile": (c_void_p, [c_void_p, c_char_p]),
    "clang_getFileLocation": (None, [Location, POINTER(c_void_p), POINTER(c_uint), POINTER(c_uint), POINTER(c_uint)]),
    "clang_getFileName": (String, [c_void_p]),
    "clang_getInclusions": (None, [c_void_p, InclusionVisitor, c_void_p]),
    "clang_getLocationForOffset": (Location, [c_void_p, c_void_p, c_uint]),
    "clang_getNumDiagnostics": (c_uint, [c_void_p]),
    "clang_getNumOverloadedDecls": (c_uint, [Cursor]),
    "clang_getOverloadedDecl": (Cursor, [Cursor, c_uint]),
    "clang_getRangeEnd": (Location, [Range]),
    "clang_getRangeStart": (Location, [Range]),
    "clang_getSkippedRanges": (POINTER(Ranges), [c_void_p, c_void_p]),
    "clang_getTranslationUnitCursor": (Cursor, [c_void_p]),
    "clang_getTypeDeclaration": (Cursor, [Type]),
    "clang_getTypeSpelling": (String, [Type]),
    "clang_isExpression": (c_uint, [c_int]),
    "clang_parseTranslationUnit2": (
        c_int,
        [c_void_p, c_char_p, POINTER(c_char_p), c_int, POINTER(Unsaved), c_uint, c_uint, POINTER(c_void_p)],
    ),
    "clang_saveTranslationUnit": (c_int, [c_void_p, c_char_p, c_uint]),
    "clang_visitChildren": (c_uint, [Cursor, Visitor, c_void_p]),
}


def library_path() -> Path:
    """The libclang to load: CU2PORT_LIBCLANG, else the one in the installed `clang` package. Raises OSError."""
    override = os.environ.get("CU2PORT_LIBCLANG")
    if override:
        return Path(override)
    spec = find_spec("clang")
    names = ("libclang.dll",) if sys.platform == "win32" else ("libclang.dylib", "libclang.so")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for name in names:
            path = Path(folder) / "native" / name
            if path.is_file():
                return path
    raise OSError("libclang is not installed: pip install libclang-ng")


class Lib:
    """libclang's functions by name without `clang_`, with types: `lib.getCursor(tu, location)`. Strings are bytes."""

    def __init__(self, path: Path) -> None:
        dll = ctypes.CDLL(str(path))
        self._call: dict[str, Callable[..., Any]] = {}
        for name, (result, arguments) in _FUNCTIONS.items():
            try:
                f = getattr(dll, name)
            except AttributeError as e:
                raise OSError(f"{path} is no libclang that cu2port can use: it lacks {name}") from e
            f.restype, f.argtypes = result, arguments
            self._call[name.removeprefix("clang_")] = f

    def __getattr__(self, name: str) -> Callable[..., Any]:
        try:
            f = self._call[name]
        except KeyError:
            raise AttributeError(name) from None
        self.__dict__[name] = f  # found at once the next time
        return f

    def text(self, string: object) -> bytes:
        """The bytes of a CXString, which is disposed of."""
        value = self.getCString(string)
        self.disposeString(string)
        return value if isinstance(value, bytes) else b""


class Unit:
    """A parsed file. `crashed` after a crash that libclang caught: nothing in this process may be trusted then."""

    def __init__(
        self, lib: Lib, path: bytes, arguments: Sequence[bytes], unsaved: Sequence[tuple[bytes, bytes]], options: int
    ) -> None:
        self.lib = lib
        self.index = lib.createIndex(1, 0)
        argv = (c_char_p * len(arguments))(*arguments)
        files = (Unsaved * max(1, len(unsaved)))(*(Unsaved(n, d, len(d)) for n, d in unsaved))
        tu = c_void_p()
        sizes = len(arguments), len(unsaved)
        code = lib.parseTranslationUnit2(self.index, path, argv, sizes[0], files, sizes[1], options, ctypes.byref(tu))
        self.crashed = code == 2
        self.tu = tu if tu.value else None
        self.file = lib.getFile(self.tu, path) if self.tu else None
        self._place = (c_void_p(), c_uint())

    def close(self) -> None:
        if self.tu is not None:
            self.lib.disposeTranslationUnit(self.tu)
            self.tu = None
        if self.index is not None:
            self.lib.disposeIndex(self.index)
            self.index = None

    def __enter__(self) -> Unit:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def place(self, location: object) -> tuple[int | None, int]:
        """(file handle or None, byte offset) of a location: of an argument's text, of a macro's use."""
        file, offset = self._place
        self.lib.getFileLocation(location, ctypes.byref(file), None, None, ctypes.byref(offset))
        return file.value, offset.value

    def at(self, offset: int) -> Cursor:
        """The innermost cursor at a byte of the main file."""
        found: Cursor = self.lib.getCursor(self.tu, self.lib.getLocationForOffset(self.tu, self.file, offset))
        return found

    def skipped(self) -> tuple[tuple[int, int], ...]:
        """Byte ranges of the main file that the preprocessor left out."""
        found = self.lib.getSkippedRanges(self.tu, self.file)
        if not found:
            return ()
        ranges = [found.contents.ranges[i] for i in range(found.contents.count)]
        out = [(self.place(self.lib.getRangeStart(r))[1], self.place(self.lib.getRangeEnd(r))[1]) for r in ranges]
        self.lib.disposeSourceRangeList(found)
        return tuple(sorted(out))

    def errors(self) -> Iterator[tuple[bytes, tuple[int | None, int]]]:
        """Messages of errors and worse, with their places: (file handle or None, byte offset)."""
        for i in range(self.lib.getNumDiagnostics(self.tu)):
            d = self.lib.getDiagnostic(self.tu, i)
            if self.lib.getDiagnosticSeverity(d) >= SEVERITY_ERROR:
                place = self.place(self.lib.getDiagnosticLocation(d))
                yield self.lib.text(self.lib.getDiagnosticSpelling(d)), place
            self.lib.disposeDiagnostic(d)

    def inclusions(self) -> set[bytes]:
        """Names of the files that were read, as they were found."""
        names: set[bytes] = set()

        def visit(file: int, stack: object, depth: int, data: object) -> None:
            names.add(self.lib.text(self.lib.getFileName(file)))

        self.lib.getInclusions(self.tu, InclusionVisitor(visit), None)
        return names
