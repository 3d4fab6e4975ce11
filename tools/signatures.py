"""Whether what the rules make of CUDA's names has the parameters, types and members that CUDA's headers declare.

    python tools/signatures.py LIST... -I DIR... [--rocm-path DIR] [--rocm 7.1] [--arch gfx942] [--show] [--values]

LIST is a list of tools/names.toml (`runtime`, `cublas`), which says in which headers its names stand; DIR holds
CUDA's headers. Every public function is called with parameters of the types that its prototype has, every enumerator
and constant macro is a value, every member of a struct is read and written, every type is used. What CUDA's own
headers take is converted, each use on a line of its own, and compiled for the host and one GPU. Prints, by list, how
many uses there are, how many cu2port leaves to be done by hand, and of the others how many compile.

--show names those that do not, and why. --values names enumerators and macros that have another value in HIP.

Exit: 0, 1 when some do not compile, 2 when it could not run.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from compile_examples import Compiler
from names import NameList, read_spec

from cu2port.core.model import Options, Trust
from cu2port.engine.translate import translate
from cu2port.facts.clang import ClangService
from cu2port.project.tree import CannotRun

SPEC = Path(__file__).with_name("names.toml")
KINDS = ("function", "type", "tag", "member", "enumerator", "macro")
# cannot be included beside the others of its list, or includes what is not CUDA's: name it by --header
ALONE = (
    "cublas.h",
    "cudaEGL.h",
    "cudaGL.h",
    "cudaVDPAU.h",
    "cuda_egl_interop.h",
    "cuda_gl_interop.h",
    "cuda_vdpau_interop.h",
)
AT_ONCE = 64  # uses that are converted as one file
DEVICE = ("curand", "device")  # their headers have functions for the GPU where nvcc reads them
FIRST = ("cuda_runtime.h",)
AS_CUDA = ("-x", "cuda", "--cuda-host-only", "-nocudainc", "-nocudalib", "-std=c++17", "-w", "-ferror-limit=0")
ALLOWED = ("-D__NV_NO_HOST_COMPILER_CHECK", "-Wno-unknown-cuda-version", "-fno-caret-diagnostics")
_ALIAS = re.compile(r"#define (\w+) (?:__\w+\()?([A-Za-z_]\w*)\)?$")
_MACRO = re.compile(r"#define (\w+) (\S.*)$")
_ERROR = re.compile(r"example:(\d+):\d+: (?:fatal )?error: ")
_VALUE = re.compile(r"^@cu2port_value(\d+) = .*?global i64 (-?\d+)", re.M)
Node = dict[str, Any]


@dataclass(frozen=True)
class Use:
    """Code that uses a name: a line of it, `@` for its number."""

    name: str
    kind: str
    text: str

    @property
    def number(self) -> int:
        found = re.search(r"cu2port_use(\d+)", self.text)
        return int(found[1]) if found else -1


@dataclass
class Declared:
    """What a translation unit declares. `named`: public names of a type by the id of its declaration."""

    public: NameList
    aliases: Mapping[str, Sequence[str]]
    uses: dict[tuple[str, str], Use] = field(default_factory=dict)
    named: dict[str, list[str]] = field(default_factory=dict)

    def is_public(self, name: str) -> bool:
        return bool(self.public.keep.fullmatch(name)) and not self.public.drop.fullmatch(name)

    def add(self, name: str, kind: str, text: str) -> None:
        if self.is_public(name.partition(".")[0]):
            self.uses.setdefault((kind, name), Use(name, kind, text))

    def written(self, type_: str) -> str:
        """A type as a user writes it: by the macro that stands for a version of it."""
        return re.sub(r"\w+", lambda m: (self.aliases.get(m[0]) or [m[0]])[0], type_)


def variable(type_: str, name: str) -> str:
    """`int (*)(void)`, `p` -> `int (*p)(void)`."""
    for mark in ("(*)", "(*const)"):
        if mark in type_:
            return type_.replace(mark, f"{mark[:-1]} {name})", 1)
    at = type_.find("[")
    return f"{type_} {name}" if at < 0 else f"{type_[:at]} {name}{type_[at:]}"


def functions(d: Declared, node: Node) -> None:
    """A call with parameters of the types that it declares."""
    inner = node.get("inner", [])
    kinds = {n["kind"] for n in inner}
    types = [d.written(n["type"]["qualType"]) for n in inner if n["kind"] == "ParmVarDecl"]
    result = d.written(node["type"]["qualType"].partition("(")[0].strip())
    if node.get("variadic") or "CUDAGlobalAttr" in kinds or "(" in result:
        return
    side = "__device__ " if "CUDADeviceAttr" in kinds else ""
    taken = ", ".join(variable(t, f"p{n}") for n, t in enumerate(types))
    given = ", ".join(f"p{n}" for n in range(len(types)))
    overload = "" if not side else "".join(types)  # intrinsics have overloads
    for name in d.aliases.get(node["name"], [node["name"]]):
        call = f"{name}({given})"
        text = f"{side}{result} cu2port_use@({taken}) {{ {'' if result == 'void' else 'return '}{call}; }}"
        if d.is_public(name):
            d.uses.setdefault(("function", name + overload), Use(name, "function", text))


def members(d: Declared, owner: str, node: Node, path: str) -> None:
    """Members read and written, those of unnamed structs inside too."""
    nested: Node | None = None
    for n in node.get("inner", []):
        if n["kind"] == "CXXRecordDecl" and n.get("completeDefinition"):
            nested = n
            continue
        if n["kind"] != "FieldDecl":
            continue
        type_ = d.written(n["type"]["qualType"])
        name, inside = n.get("name", ""), "(unnamed" in type_ or "(anonymous" in type_
        whole = f"{path}.{name}" if path and name else name or path
        if inside and nested is not None:
            members(d, owner, nested, whole)
        if not name or name.startswith(("reserved", "_")):
            continue
        if inside or "[" in type_ or type_.startswith("const "):
            text = f"void cu2port_use@({owner} *p) {{ (void)p->{whole}; }}"
        else:
            reads = f"void cu2port_use@({owner} *p) {{ {variable(type_, 'x')} = p->{whole}; (void)x; }}"
            text = f"{reads} void cu2port_use@({owner} *p, {variable(type_, 'v')}) {{ p->{whole} = v; }}"
        d.add(f"{owner}.{whole}", "member", text)


def walk(d: Declared, nodes: Sequence[Node]) -> None:
    """All declarations of a unit that are at its top."""
    later: list[tuple[str, Node]] = []
    for node in nodes:
        kind, name = node["kind"], node.get("name", "")
        if kind == "LinkageSpecDecl":
            walk(d, node.get("inner", []))
        elif kind == "FunctionDecl" and name and not node.get("isImplicit"):
            functions(d, node)
        elif kind in ("CXXRecordDecl", "EnumDecl") and (node.get("inner") or node.get("completeDefinition")):
            d.named.setdefault(node["id"], []).append(name)
            later.append((node["id"], node))
        elif kind in ("TypedefDecl", "TypeAliasDecl") and name and not node.get("isImplicit"):
            for id_ in _declarations(node):
                d.named.setdefault(id_, []).append(name)
            for written in d.aliases.get(name, [name]):
                d.add(written, "type", f"{written} *cu2port_use@({written} *p) {{ return p; }}")
    for id_, node in later:
        _type(d, node, [w for n in d.named[id_] for w in d.aliases.get(n, [n])])


def _type(d: Declared, node: Node, names: Sequence[str]) -> None:
    """A struct or enumeration with all its names: what is in it, by the name that users write."""
    public = sorted((n for n in names if n and d.is_public(n)), key=lambda n: (bool(re.search(r"_v\d+$", n)), len(n)))
    tag = node.get("tagUsed", "enum")
    if node.get("name"):
        d.add(node["name"], "tag", f"unsigned long cu2port_use@() {{ return sizeof({tag} {node['name']}); }}")
    if node["kind"] == "CXXRecordDecl":
        if public:
            members(d, public[0], node, "")
        return
    for n in node.get("inner", []):
        if n["kind"] == "EnumConstantDecl":
            kept = public[0] if public else "long long"
            value = f"long long cu2port_value@ = (long long)({n['name']});"
            d.add(n["name"], "enumerator", f"{kept} cu2port_use@() {{ return {n['name']}; }} {value}")


def _declarations(node: Node) -> Iterator[str]:
    """Ids of the tags that a typedef names, through other typedefs' types."""
    for n in node.get("inner", []):
        if n.get("decl", {}).get("kind") in ("CXXRecordDecl", "EnumDecl"):
            yield n["decl"]["id"]
        if n.get("kind") in ("ElaboratedType", "TypedefType", "RecordType", "EnumType"):
            yield from _declarations(n)


def public_macros(d: Declared, defined: str) -> None:
    """Macros that are values."""
    for line in defined.splitlines():
        found = _MACRO.match(line)
        if found and d.public.macros.fullmatch(found[1]) and not _ALIAS.match(line):
            value = f"long long cu2port_value@ = (long long)({found[1]});"
            d.add(found[1], "macro", f"auto cu2port_use@() {{ return {found[1]}; }} {value}")


def read_headers(command: Sequence[str], headers: Sequence[str], public: NameList, folder: Path) -> list[Use]:
    """The uses of what these headers declare for everyone."""
    unit = folder / "headers.cu"
    unit.write_text("".join(f"#include <{h}>\n" for h in headers))
    defined = _run([*command, "-E", "-dM", str(unit)])
    aliases: dict[str, list[str]] = {}
    for line in defined.splitlines():
        if (found := _ALIAS.match(line)) and found[1] != found[2]:
            aliases.setdefault(found[2], []).append(found[1])
    kept = {k: [*[a for a in v if public.keep.fullmatch(a)], k] for k, v in aliases.items()}
    d = Declared(public, {k: v for k, v in kept.items() if len(v) > 1})
    walk(d, json.loads(_run([*command, "-fsyntax-only", "-Xclang", "-ast-dump=json", str(unit)]))["inner"])
    public_macros(d, defined)
    return [Use(u.name, u.kind, u.text.replace("@", str(n))) for n, u in enumerate(d.uses.values())]


def _run(command: Sequence[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode and (not done.stdout or "fatal error" in done.stderr):
        said = next((line for line in done.stderr.splitlines() if "error" in line), "no word")
        raise CannotRun(f"{command[0]}: {said}")
    return done.stdout


def source(headers: Sequence[str], uses: Sequence[Use]) -> tuple[str, int]:
    """The uses as CUDA code, and how many lines are before them. Use N is at lines 2N and 2N + 1 from there."""
    top = [f"#include <{h}>" for h in headers]
    body = [x for n, u in enumerate(uses) for x in (f'#line {n + 1} "example"', u.text)]
    return "\n".join((*top, *body)) + "\n", len(top)


def taken_by_cuda(
    command: Sequence[str], headers: Sequence[str], uses: Sequence[Use], folder: Path
) -> tuple[list[Use], dict[int, int]]:
    """The uses that CUDA's own headers take, and the values of these."""
    unit = folder / "uses.cu"
    unit.write_text(source(headers, uses)[0])
    done = subprocess.run([*command, "-fsyntax-only", str(unit)], capture_output=True, text=True, errors="replace")
    bad = {int(found[1]) - 1 for line in done.stderr.splitlines() if (found := _ERROR.match(line))}
    kept = [u for n, u in enumerate(uses) if n not in bad]
    unit.write_text(source(headers, kept)[0])
    done = subprocess.run([*command, "-S", "-emit-llvm", "-O0", "-o", "-", str(unit)], capture_output=True, text=True)
    return kept, constants(done.stdout)


def constants(code: str) -> dict[int, int]:
    """The values that enumerators and macros have, by the number in their variable's name, in LLVM's code."""
    return {int(n): int(value) for n, value in _VALUE.findall(code)}


@dataclass(frozen=True)
class Converted:
    """Uses after conversion, by number: HIP code, those to be done by hand, those that a finding says to review."""

    top: tuple[str, ...]  # includes
    code: dict[int, str]
    by_hand: frozenset[int]
    review: frozenset[int]


def converted(headers: Sequence[str], uses: Sequence[Use], rocm: tuple[int, int], clang: ClangService) -> Converted:
    """What becomes of uses in one file."""
    text, top = source(headers, uses)
    result = translate(text.encode("latin-1"), Options(rocm=rocm), path="uses.cu", clang=clang)
    starts = [0, *(m.end() for m in re.finditer("\n", text))]
    of = [(bisect_right(starts, f.finding.start) - 1, f) for f in result.findings]
    at = {k for k, f in of if f.open}
    review = {k for k, f in of if f.finding.trust is Trust.REVIEW}
    without = {x for k, x in enumerate(text.splitlines()[:top]) if k in at}  # headers without a counterpart
    lines = result.output.decode("latin-1").splitlines()
    begin = {int(x.split()[1]) - 1: k for k, x in enumerate(lines) if x.endswith('"example"')}
    code = {n: " ".join(lines[k + 1 : begin.get(n + 1, len(lines))]) for n, k in begin.items()}
    by_hand, told = (frozenset((k - top) // 2 for k in found if k >= top) for found in (at, review))
    return Converted(tuple(x for x in lines[: begin[0]] if x not in without), code, by_hand, told)


@dataclass(frozen=True)
class Told:
    """What is known of a use: what cu2port and the compiler say of it, its values and its HIP code."""

    by_hand: bool
    review: bool
    message: str
    cuda: int | None
    hip: int | None
    code: str


def judge(
    compiler: Compiler, command: Sequence[str], headers: Sequence[str], uses: Sequence[Use], rocm: tuple[int, int]
) -> tuple[dict[Use, Told], list[str]]:
    """What becomes of the uses that CUDA takes, and which of HIP's headers are not here."""
    uses, cuda = taken_by_cuda(command, headers, uses, compiler.folder)
    with ClangService() as clang:  # types say whose members are used
        parts = [converted(headers, uses[k : k + AT_ONCE], rocm, clang) for k in range(0, len(uses), AT_ONCE)]
    code = {n * AT_ONCE + k: text for n, part in enumerate(parts) for k, text in part.code.items()}
    by_hand = {n * AT_ONCE + k for n, part in enumerate(parts) for k in part.by_hand}
    review = {n * AT_ONCE + k for n, part in enumerate(parts) for k in part.review}
    top = list(dict.fromkeys(x for part in parts for x in part.top))
    absent = [h for x in top for h in re.findall(r"#include <(.*)>", x) if not compiler.has(h)]
    head = "\n".join(x for x in top if not any(f"<{h}>" in x for h in absent))
    kept = [n for n in code if n not in by_hand]
    found = compiler.errors(_numbered(head, code, kept))
    if ("", 0) in found:
        raise CannotRun(found["", 0])
    good = [n for n in kept if ("example", n + 1) not in found]
    hip = constants(compiler.host_ir(_numbered(head, code, good)))
    told = {
        u: Told(
            n in by_hand, n in review, found.get(("example", n + 1), ""), cuda.get(u.number), hip.get(u.number), code[n]
        )
        for n, u in enumerate(uses)
    }
    return told, absent


def _numbered(head: str, code: Mapping[int, str], numbers: Sequence[int]) -> str:
    return "\n".join((head, *(f'#line {n + 1} "example"\n{code[n]}' for n in numbers))) + "\n"


def headers_of(spec: NameList, folders: Sequence[Path]) -> list[str]:
    """The headers of a list that are in the folders, as they are included."""
    found = dict.fromkeys(
        str(p.relative_to(folder))
        for pattern in spec.headers
        for folder in folders
        for p in sorted(folder.glob(pattern))
    )
    return [*FIRST, *(h for h in found if h not in (*FIRST, *ALONE))]


@click.command(help=__doc__)
@click.argument("lists", nargs=-1, required=True)
@click.option("-I", "folders", multiple=True, required=True, type=click.Path(path_type=Path))
@click.option("--header", "only", multiple=True, help="These headers instead of the list's.")
@click.option("--rocm-path", default="")
@click.option("--rocm", default="7.1", show_default=True, help="The version that the headers there are of.")
@click.option("--arch", default="gfx942", show_default=True)
@click.option("--compiler", "asked", default="")
@click.option("--show", is_flag=True, help="Print what fails, and why.")
@click.option("--values", "show_values", is_flag=True, help="Print enumerators and macros with other values.")
def main(
    lists: tuple[str, ...],
    folders: tuple[Path, ...],
    only: tuple[str, ...],
    rocm_path: str,
    rocm: str,
    arch: str,
    asked: str,
    show: bool,
    show_values: bool,
) -> None:
    major, minor = map(int, rocm.split("."))
    spec = read_spec(SPEC)[1]
    bad = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name in lists:
            headers = [*FIRST, *only] if only else headers_of(spec[name], folders)
            try:
                compiler = Compiler([arch], rocm_path, asked, Path(scratch))
                command = [*compiler.program, *AS_CUDA, *ALLOWED, *(f"-I{f}" for f in folders)]
                command += ["-D__CUDACC__"] * (name in DEVICE)
                uses = read_headers(command, headers, spec[name], Path(scratch))
                told, absent = judge(compiler, command, headers, uses, (major, minor))
            except CannotRun as e:
                click.echo(f"{name}: {e}", err=True)
                raise SystemExit(2) from None
            bad += sum(bool(t.message) for t in told.values())
            for line in (*report(name, told, show, show_values), *(f"{name}: {h} is not here" for h in absent)):
                print(line, flush=True)
    raise SystemExit(bool(bad))


def report(name: str, told: Mapping[Use, Told], show: bool, show_values: bool) -> Iterator[str]:
    """Lines about one list."""
    for kind in KINDS:
        mine = {u: t for u, t in told.items() if u.kind == kind}
        failed = {u: t for u, t in mine.items() if t.message}
        by_hand = sum(t.by_hand for t in mine.values())
        if mine:
            good = f"{len(mine) - by_hand - len(failed):>5} compile"
            left = f"{len(failed):>4} do not, {sum(t.review for t in failed.values())} of them to review"
            yield f"{name:<18} {kind:<10} {len(mine):>5}: {by_hand:>5} by hand, {good}, {left}"
        for u, t in failed.items() if show else ():
            yield f"  {u.name}: {t.message}\n      {u.text}\n      {t.code}"
        for u, t in mine.items() if show_values else ():
            if t.hip is not None and t.cuda is not None and t.hip != t.cuda:
                yield f"  {u.name}: {t.cuda}, in HIP {t.hip}"


if __name__ == "__main__":
    main()
