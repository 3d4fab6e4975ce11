"""Make the name lists in rules/names from the headers in NVIDIA's wheels.

    python tools/names.py CACHE [--out rules/names] [--list NAME]...

CACHE keeps the headers (CACHE/headers/WHEEL/...). A wheel whose headers are there already is not fetched again;
a fetched wheel is deleted as soon as its headers are out, since the libraries beside them are gigabytes.
Only names and what kind of thing they name are written; no text of a header is kept. names.toml beside this file says
which wheels, headers and names.

The parser knows C declarations, not C++: it looks at every #if branch, skips bodies, and takes the name that a
declaration gives. That is all that lists of public names need, and it works without CUDA's compiler.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

HEADER_SUFFIXES = (".h", ".hpp", ".cuh", ".inl")


@dataclass(frozen=True, slots=True)
class NameList:
    """One list of names.toml, its regular expressions compiled."""

    wheels: tuple[str, ...]
    headers: tuple[str, ...]
    keep: re.Pattern[str]
    drop: re.Pattern[str]
    macros: re.Pattern[str]
    builtin: tuple[str, ...]


@dataclass(frozen=True, order=True, slots=True)
class Name:
    name: str
    kind: str


# --- reading declarations ------------------------------------------------------------------------------------------

_COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
_ATTRIBUTE = re.compile(r"\[\[.*?\]\]", re.S)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(\w+)([^\n]*)$", re.M)
_TOKEN = re.compile(r"[A-Za-z_]\w*|::|\d[\w.]*|[^\s\w]")
_WORD = re.compile(r"[A-Za-z_]\w*\Z")
_NOT_A_NAME = frozenset(
    "__attribute__ __declspec __align__ __builtin_align__ alignas decltype noexcept requires explicit "
    "__CUDA_ALIGN__ defined sizeof __launch_bounds__ __restrict__ operator return if for while switch "
    "_CCCL_ALIGNAS _CCCL_DEPRECATED_BECAUSE _CCCL_REQUIRES _CCCL_TEMPLATE _CCCL_AND enable_if_t void int "
    "CCCL_DEPRECATED_BECAUSE "
    "NV_IF_TARGET __nv_noinline__ asm __asm__ static_assert _CCCL_DECLSPEC_EMPTY_BASES".split()
)


def _blank(match: re.Match[str]) -> str:
    text = match.group()
    return '""' if text.startswith('"') else " " + "\n" * text.count("\n")


def declarations(text: str, macros_too: bool = True) -> Iterator[Name]:
    """Every name that `text`, a header, declares at namespace scope, in order; names may repeat.

    Kinds: function, type, template, enumerator, macro, namespace, variable. C++ names come qualified.
    """
    text = _COMMENT.sub(_blank, text.replace("\\\r\n", " ").replace("\\\n", " ").replace("\r", ""))
    text = _ATTRIBUTE.sub(" ", text)
    if macros_too:
        for match in _DIRECTIVE.finditer(text):
            found = re.match(r"\s*([A-Za-z_]\w*)(.*)", match.group(2)) if match.group(1) == "define" else None
            if found and found.group(2).strip():
                yield Name(found.group(1), _macro_kind(found.group(1), found.group(2)))
    tokens = _TOKEN.findall(_name_scopes("\n".join(_balanced(text.split("\n")))))
    yield from _scope(tokens, 0, len(tokens), "")


def _macro_kind(name: str, body: str) -> str:
    """`cuMemAlloc` is a macro only to carry its version; `cudaHostAllocDefault` really is one."""
    calls = body.startswith("(") or re.match(rf"{name}_\w+\s*$", body.strip())
    return "function" if calls and name[:1].islower() else "macro"


def _balanced(lines: list[str]) -> Iterator[str]:
    """The lines without directives; a later branch of an #if whose first branch opens a brace is left out.

    Both branches then open the same brace, and counting it twice would swallow the rest of the file.
    """
    nets: list[int] = []
    later: list[bool] = []
    for line in lines:
        directive = re.match(r"\s*#\s*(\w+)", line)
        if directive is None:
            if not any(later[k] and nets[k] for k in range(len(nets))):
                for k in range(len(nets)):
                    nets[k] += 0 if later[k] else line.count("{") - line.count("}")
                yield line
        elif directive.group(1).startswith("if"):
            nets.append(0)
            later.append(False)
        elif directive.group(1) in ("else", "elif") and later:
            later[-1] = True
        elif directive.group(1) == "endif" and later:
            nets.pop()
            later.pop()


def _name_scopes(text: str) -> str:
    """`extern "C" {` loses its brace, and every macro that opens or closes a namespace becomes one."""
    text = re.sub(r'extern\s*""\s*\{', " ", text)
    text = re.sub(r"\b__DEF_IF_HOST\b", ";", text)
    text = re.sub(r"\b_CG_BEGIN_NAMESPACE\b", "namespace cooperative_groups {", text)
    text = re.sub(r"\b_CG_END_NAMESPACE\b", "}", text)
    text = re.sub(
        r"\b_CCCL_BEGIN_NAMESPACE_CUDA_STD\b|\b_LIBCUDACXX_BEGIN_NAMESPACE_STD\b", "namespace cuda::std {", text
    )
    text = re.sub(r"\b_CCCL_BEGIN_NAMESPACE_(?:CUDA_)?STD_NOVERSION\b", "namespace cuda::std {", text)
    text = re.sub(r"\b_CCCL_BEGIN_NAMESPACE_CUDA_DEVICE\b", "namespace cuda::device {", text)
    text = re.sub(r"\b_CCCL_BEGIN_NAMESPACE_CUDA_DRIVER\b", "namespace cuda::__driver {", text)
    text = re.sub(r"\b_CCCL_BEGIN_NAMESPACE_CUDA_MR\b", "namespace cuda::mr {", text)
    text = re.sub(r"\b_CCCL_BEGIN_NAMESPACE_CUDA_PTX\b", "namespace cuda::ptx {", text)
    text = re.sub(r"\b_CCCL_BEGIN_NAMESPACE_CUDA_EXECUTION\b", "namespace cuda::execution {", text)
    text = re.sub(r"\b_CCCL_BEGIN_NAMESPACE_(?:CUDA_)?STD_(\w+)\b", r"namespace cuda::std::__\1 {", text)
    text = re.sub(r"\b_CCCL_BEGIN_NAMESPACE_CUDA_STD_EXECUTION\b", "namespace cuda::std::execution {", text)
    text = re.sub(r"\b_CCCL_BEGIN_NAMESPACE_CUDA\b", "namespace cuda {", text)
    text = re.sub(r"\bTHRUST_NAMESPACE_BEGIN\b", "namespace thrust {", text)
    text = re.sub(r"\bCUB_NAMESPACE_BEGIN\b", "namespace cub {", text)
    return re.sub(
        r"\b(?:_CCCL_END_NAMESPACE_\w+|_LIBCUDACXX_END_NAMESPACE_\w+|THRUST_NAMESPACE_END|CUB_NAMESPACE_END)\b",
        "}",
        text,
    )


def _scope(tokens: list[str], i: int, end: int, scope: str) -> Iterator[Name]:
    start = i
    while i < end:
        token = tokens[i]
        if token in "([":
            i = _skip(tokens, i, end)
        elif token == "{":
            close = _skip(tokens, i, end)
            head = tokens[start:i]
            inner = _namespace(head)
            if inner is not None:
                path = f"{scope}::{inner}" if scope and inner else scope or inner
                if inner:
                    yield Name(path, "namespace")
                yield from _scope(tokens, i + 1, close - 1, path)
                start = close
            elif "enum" in head:
                yield from _enumerators(tokens[i + 1 : close - 1], scope, head)
            elif not _is_aggregate(head) and "=" not in _top_level(head):
                yield from _declared(head, scope)  # a function with a body: no `;` follows
                start = close
            i = close
        elif token == ";":
            yield from _declared(tokens[start:i], scope)
            i += 1
            start = i
        elif token == "}":
            i += 1
            start = i
        else:
            i += 1


def _skip(tokens: list[str], i: int, end: int) -> int:
    """The index after the bracket that closes the one at `i`."""
    depth = 0
    while i < end:
        if tokens[i] in "([{":
            depth += 1
        elif tokens[i] in ")]}":
            depth -= 1
            if depth == 0:
                return i + 1
        i += 1
    return end


def _namespace(head: list[str]) -> str | None:
    if "namespace" not in head:
        return None
    at = head.index("namespace")
    if head[at - 1 : at] == ["inline"] or head[at - 1 : at] == ["using"] or head[at + 1 :] == ["std"]:
        return ""  # `std` at file scope holds what C code sees without it
    return "".join(t for t in head[at + 1 :] if _WORD.match(t) or t == "::")


def _is_aggregate(head: list[str]) -> bool:
    plain = _outside_angles(_strip_template(head))
    for at, token in enumerate(plain):
        if token in ("struct", "class", "union"):
            return "(" not in plain[at:] or (at + 1 < len(plain) and plain[at + 1] in _NOT_A_NAME)
    return False


def _top_level(head: list[str]) -> list[str]:
    """`head` without what is in brackets or in a template's parameter list."""
    out, depth = [], 0
    for token in _outside_angles(_strip_template(head)):
        depth += (token in "([") - (token in ")]")
        if not depth:
            out.append(token)
    return out


def _enumerators(body: list[str], scope: str, head: list[str]) -> Iterator[Name]:
    scoped = "class" in head or "struct" in head
    prefix = f"{scope}::" if scope else ""
    if scoped:
        return
    depth, fresh = 0, True
    for token in body:
        if token in "([{":
            depth += 1
        elif token in ")]}":
            depth -= 1
        elif token == "," and depth == 0:
            fresh = True
        elif fresh and depth == 0 and _WORD.match(token):
            yield Name(prefix + token, "enumerator")
            fresh = False


def _strip_template(tokens: list[str]) -> list[str]:
    while tokens[:2] == ["template", "<"]:
        depth, i = 0, 1
        while i < len(tokens):
            depth += (tokens[i] == "<") - (tokens[i] == ">")
            i += 1
            if depth == 0:
                break
        tokens = tokens[i:]
    return tokens


def _outside_angles(tokens: list[str]) -> list[str]:
    out, depth = [], 0
    for at, token in enumerate(tokens):
        if token == "<" and at and _WORD.match(tokens[at - 1]):
            depth += 1
        elif token == ">" and depth:
            depth -= 1
        elif not depth:
            out.append(token)
    return out


def _declared(tokens: list[str], scope: str) -> Iterator[Name]:
    """The names that one declaration (without its `;` or body) gives."""
    while "}" in tokens and "{" not in tokens:
        tokens = tokens[tokens.index("}") + 1 :]
    plain = _outside_angles(_strip_template(tokens))
    template = "template" in tokens[:1]
    prefix = f"{scope}::" if scope else ""
    if not plain or "operator" in plain or plain[0] in ("friend", "static_assert"):
        return
    if plain[0] == "using":
        if "=" in plain and plain.index("=") > 1:
            yield Name(prefix + plain[1], "template" if template else "type")
        elif plain[1:2] != ["namespace"] and _WORD.match(plain[-1]):
            yield Name(prefix + plain[-1], "type")
        return
    if "typedef" in plain:
        yield from (Name(prefix + n, "type") for n in _typedef_names(plain))
        tag = next((t for k, t in pairwise(plain) if k in ("struct", "union", "enum") and _WORD.match(t)), None)
        if tag:
            yield Name(prefix + tag, "type")
        return
    for at, token in enumerate(plain):
        if token in ("struct", "class", "union", "enum") and _is_tag(plain, at):
            body = plain.index("{") if "{" in plain else len(plain)
            names = [t for t in _before_base(plain[at + 1 : body]) if _WORD.match(t) and t not in _NOT_A_NAME]
            names = [n for n in names if n not in ("class", "struct", "final") and not n.isupper()] or names
            if names:
                yield Name(prefix + names[-1], "template" if template else "type")
            return
    for at, token in enumerate(plain):
        if token == "(" and at and _WORD.match(plain[at - 1]) and plain[at - 1] not in _NOT_A_NAME:
            if plain[at - 1].isupper() and "(" in plain[_skip(plain, at, len(plain)) :]:
                continue  # an attribute macro with arguments
            if plain[at - 2 : at - 1] == ["::"]:
                return  # a member defined out of its class
            yield Name(prefix + plain[at - 1], "template" if template else "function")
            return
    before = plain[: plain.index("=")] if "=" in plain else plain
    words = [t for t in before if _WORD.match(t)]
    if scope and len(words) > 1 and "(" not in before:
        yield Name(prefix + words[-1], "variable")


def _is_tag(plain: list[str], at: int) -> bool:
    """A struct, class or enum is declared here, not merely named as the type of something."""
    if "{" in plain:
        return plain.index("{") > at
    rest = [t for t in plain[at + 1 :] if t not in ("(", ")")]
    return "(" not in plain[at:] and sum(bool(_WORD.match(t)) and not t.startswith("_") for t in rest) <= 1


def _before_base(tokens: list[str]) -> list[str]:
    return tokens[: tokens.index(":")] if ":" in tokens else tokens


def _typedef_names(plain: list[str]) -> list[str]:
    flat: list[str] = []
    depth = 0
    for token in plain:
        if token == "{":
            depth += 1
        elif token == "}":
            depth -= 1
        elif depth == 0:
            flat.append(token)
    for at, token in enumerate(flat):
        if token == "(" and "*" in flat[at + 1 : at + 4]:
            names = [t for t in flat[at : flat.index(")", at)] if _WORD.match(t)]
            return names[-1:]
    if "(" in flat and _WORD.match(flat[flat.index("(") - 1]) and flat[flat.index("(") - 1] not in _NOT_A_NAME:
        return [flat[flat.index("(") - 1]]
    while len(flat) > 3 and flat[-1].isupper() and _WORD.match(flat[-2]) and "enum" not in flat[-2:]:
        flat.pop()  # an attribute macro behind the name
    names, piece = [], []
    for token in [*flat, ","]:
        if token != ",":
            piece.append(token)
            continue
        words = (
            [t for t in piece[: piece.index("[")] if _WORD.match(t)]
            if "[" in piece
            else [t for t in piece if _WORD.match(t)]
        )
        if words:
            names.append(words[-1])
        piece = []
    return names


# --- what is public ------------------------------------------------------------------------------------------------

_PREFER = {k: i for i, k in enumerate(("function", "template", "type", "namespace", "enumerator", "variable", "macro"))}


def read_spec(path: Path) -> tuple[tuple[str, ...], dict[str, NameList]]:
    """(wheels as pip requirements, list name -> NameList) of a names.toml."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    never = ["(?!)"]
    lists = {
        name: NameList(
            wheels=tuple(spec["wheels"]),
            headers=tuple(spec["headers"]),
            keep=re.compile("".join(spec["keep"])),
            drop=re.compile("".join(spec.get("drop", never))),
            macros=re.compile("".join(spec.get("macros", never))),
            builtin=tuple(spec.get("builtin", ())),
        )
        for name, spec in data["list"].items()
    }
    return tuple(data["wheels"]), lists


def fetch(cache: Path, requirement: str) -> Path:
    """The folder with the headers of one wheel. Raises CalledProcessError when pip cannot get it."""
    name = requirement.partition("==")[0]
    folder = cache / "headers" / name
    if (folder / "VERSION").is_file():
        return folder
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        command = [sys.executable, "-m", "pip", "-q", "download", "--no-deps", "--only-binary=:all:", "-d", scratch]
        subprocess.run([*command, requirement], check=True)
        wheel = next(Path(scratch).glob("*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.namelist():
                path = Path(entry)
                if path.suffix in HEADER_SUFFIXES or ("include" in path.parts and not path.suffix):
                    archive.extract(entry, folder)
        (folder / "VERSION").write_text(wheel.name + "\n")
    return folder


def collect(cache: Path, spec: NameList) -> list[Name]:
    """The public names of one list, sorted, each once; a name of two kinds takes the more telling one."""
    found: dict[str, str] = {}
    for path in _headers(cache, spec):
        for name in declarations(path.read_text(encoding="utf-8", errors="replace")):
            kind = name.kind
            if not spec.keep.fullmatch(name.name) or spec.drop.fullmatch(name.name):
                continue
            if kind == "macro" and not spec.macros.fullmatch(name.name):
                continue
            if name.name not in found or _PREFER[kind] < _PREFER[found[name.name]]:
                found[name.name] = kind
    return sorted(Name(n, k) for n, k in found.items())


def _headers(cache: Path, spec: NameList) -> Iterable[Path]:
    for wheel in spec.wheels:
        roots = sorted(p for p in (cache / "headers" / wheel).rglob("include") if p.is_dir())[:1]
        for root in roots:
            for pattern in spec.headers:
                yield from sorted(p for p in root.glob(pattern) if p.is_file())


def main() -> None:
    wheels, lists = read_spec(Path(__file__).with_suffix(".toml"))
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("cache", type=Path)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent.parent / "rules" / "names")
    parser.add_argument("--list", action="append", choices=sorted(lists), help="only this list")
    parser.add_argument("--no-fetch", action="store_true", help="use the headers that CACHE has")
    args = parser.parse_args()
    if not args.no_fetch:
        args.cache.mkdir(parents=True, exist_ok=True)
        for requirement in wheels:
            fetch(args.cache, requirement)
    args.out.mkdir(parents=True, exist_ok=True)
    for library in args.list or lists:
        names = {n.name: n.kind for n in collect(args.cache, lists[library])}
        for line in lists[library].builtin:
            name, kind = line.split()
            names[name] = kind
        lines = [f"{name} {names[name]}\n" for name in sorted(names)]
        (args.out / f"{library}.txt").write_text("".join(lines), encoding="utf-8")
        print(f"{library:20} {len(lines):5}")


if __name__ == "__main__":
    main()
