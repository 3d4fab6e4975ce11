from __future__ import annotations

from collections.abc import Iterator

from cu2port.core.late import regex
from cu2port.core.model import Finding, Severity
from cu2port.engine.check import Check, Example, InLint
from cu2port.facts.unit import Unit

_NAME = regex(r'"((?:cu|nccl|nvml|nvrtc)[A-Za-z]\w{3,})"\Z')
_LIBRARY = regex(
    r'"(?:[^"]*/)?(?:lib)?(cuda|nvcuda|cudart|cublas|cublasLt|cudnn|cufft|curand|cusparse|cusolver|nvrtc|nccl|nvidia-ml|nvml'
    r'|nvToolsExt)(?:64_\d+(?:_\d+)*)?\.(?:so(?:\.\d+)*|dylib|dll)"\Z'
)
_IN_TEXT = ('"cu', '"nccl', '"nvml', '"nvrtc', ".so.", '.so"', '.dylib"', '.dll"')  # one of them is in each
_LOOKS_UP = regex(r"(?i)sym|proc|entry|resolve|lookup|load|import|fetch")
#: The stem of a library's file -> ROCm's.
_ROCM = {
    "cublas": "libhipblas.so",
    "cublasLt": "libhipblaslt.so",
    "cuda": "libamdhip64.so",
    "cudart": "libamdhip64.so",
    "cudnn": "libMIOpen.so",
    "cufft": "libhipfft.so",
    "curand": "libhiprand.so",
    "cusolver": "libhipsolver.so",
    "cusparse": "libhipsparse.so",
    "nccl": "librccl.so",
    "nvToolsExt": "libroctx64.so",
    "nvcuda": "libamdhip64.so",
    "nvidia-ml": "libamd_smi.so",
    "nvml": "libamd_smi.so",
    "nvrtc": "libhiprtc.so",
}
_LOADERS = frozenset({"dlsym", "dlvsym", "GetProcAddress", "cuGetProcAddress", "uv_dlsym", "SDL_LoadFunction"})
_FAR = 60  # tokens to look back for the call


class NameInString(Check):
    """A CUDA library is opened, or one of its functions looked up, by a name in a string.

    Strings are the program's data and are not rewritten, and code that looks a name up finds nothing under AMD's
    libraries. Where the function changes in more than its name, the pointer's type changes too (`cu2port query NAME`).
    """

    code, name, severity = "CU114", "name-in-string", Severity.WARNING
    lint = InLint(chosen=True)
    examples = (
        Example('p = dlsym(h, "cuMemCreate");', 'p = dlsym(h, "cuMemCreate");'),
        Example('h = open("libcublas.so.12", 1);', 'h = open("libcublas.so.12", 1);', "a library's file"),
        Example(
            'S t[] = {{"cuInit", &a}, {"cuMemCreate", &b}}; void f() { *t[0].p = dlsym(h, t[0].n); }',
            'S t[] = {{"cuInit", &a}, {"cuMemCreate", &b}}; void f() { *t[0].p = dlsym(h, t[0].n); }',
            "a table of names",
            findings=2,
        ),
        Example('#define GET(h) dlsym(h, "cuInit")\n', '#define GET(h) dlsym(h, "cuInit")\n', "in a macro body"),
        Example('CHECK(p = dlsym(h, "cuInit"));', 'CHECK(p = dlsym(h, "cuInit"));', "as a macro's argument"),
        Example('report("cudaMalloc", e); puts("libcublas.so is missing");', note="prose"),
        Example('p = dlsym(h, "curious");', note="no name of CUDA's"),
    )

    def run(self, unit: Unit) -> Iterator[Finding]:
        if not unit.is_read and not any(x in unit.text for x in _IN_TEXT):
            return
        wanted = {}
        for text in unit.strings:
            if (m := _NAME.match(text)) and (row := unit.catalog.get(m.group(1))) is not None and row.hip != row.cuda:
                hip = f"HIP's is `{row.hip}`" if row.hip else "HIP has no counterpart"
                wanted[text] = (row.cuda, row.hip, f"{text} is looked up by its name; {hip}")
            elif m := _LIBRARY.match(text):
                rocm = _ROCM[m.group(1)]
                wanted[text] = ("", rocm, f"{text} is a CUDA library; ROCm's is `{rocm}`")
        for i in unit.find(*wanted):
            cuda, hip, message = wanted[unit.t[i]]
            if cuda and not _LOOKS_UP.search(_callee(unit, i)) and not _in_table(unit, i):
                continue
            yield self.finding(message, unit.p[i], unit.end(i), cuda=cuda, hip=hip, effects=(("all", "wrong-result"),))


def _in_table(unit: Unit, i: int) -> bool:
    """Whether token i begins a row of a table, in a file that looks names up: `{"cuInit", &init}`."""
    row = unit.tok(i - 1) == "{" and unit.tok(i + 1) == "," and unit.tok(i - 2) in ("{", ",")
    return row and not unit.words.isdisjoint(_LOADERS)


def _callee(unit: Unit, i: int) -> str:
    """The word before the bracket that holds token i; "" if there is none near."""
    k = i - 1
    while k > max(0, i - _FAR) and unit.t[k] not in (";", "{"):
        if unit.t[k] in (")", "]", "}"):
            k = unit.match[k]
        elif unit.t[k] == "(":
            before = unit.t[k - 1]
            return before if before != ">" else unit.t[max(0, k - 4)]
        k -= 1
    return ""
