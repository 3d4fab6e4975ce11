"""A lossless lexer for C++ as CUDA programs write it, over all preprocessor branches.

`split(text)` cuts a text into pieces whose concatenation is the text, whatever the text is. `lex(text)` keeps the
significant ones with their offsets and finds directives and bracket partners. It knows no macro values and no
types: it reads both sides of every `#if`, macro bodies, and files that no compiler would take.

`>` is always a token of its own (`>>` may close two templates, `>>>` a launch); callers look at adjacency.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

_IDENT = r"[A-Za-z_$\x80-\xff][A-Za-z0-9_$\x80-\xff]*"
BOM = "\xef\xbb\xbf"  # UTF-8's byte order mark, as Latin-1 reads it
_BODY = (
    rf"\A{BOM}|"
    r"[ \t\f\v]*(?:\r\n?|\n)[ \t\f\v\r\n]*|[ \t\f\v]+"  # white space
    r"|\\(?:\r\n|\r|\n)"  # a line continuation
    r"|//(?:[^\n\r\\]|\\(?:\r\n|[\s\S])?)*"  # line comment; a continuation prolongs it
    r"|/\*(?:[^*]|\*(?!/))*(?:\*/)?"  # block comment, maybe unterminated
    r'|(?:u8|[uUL])?"(?:[^"\\\n\r]|\\(?:\r\n|[\s\S])?)*"?'  # string, ends at the line's end at the latest
    r"|(?:u8|[uUL])?'(?:[^'\\\n\r]|\\(?:\r\n|[\s\S])?)+'"  # character
    rf"|{_IDENT}"
    r"|\.?[0-9](?:[eEpP][+-]|'(?=[0-9A-Za-z_])|[0-9A-Za-z_.])*"  # preprocessing number
    r"|<<<|<<=|>>=|<=>|<<|->\*|->|\.\.\.|\.\*|::|##|%:%:|%:|<%|%>|<:(?!:[^:>])|:>"
    r"|\+\+|--|&&|\|\||[-+*/%&|^!=<>]="
    r"|[\s\S]"
)
_SPLIT = re.compile(_BODY)
# A raw string needs a back reference, whose group would make `findall` return tuples: only texts that hold `R"` pay.
_SPLIT_RAW = re.compile(r'(?:u8|[uUL])?R"(?P<d>[^ ()\\\t\v\f\n\r"]{0,16})\((?:[\s\S]*?\)(?P=d)"|[\s\S]*)|' + _BODY)
_RAW_HINT = re.compile(r'R"[^ ()\\\t\v\f\n\r"]{0,16}\(')
_OPEN = {"(": ")", "[": "]", "{": "}", "<%": "}", "<:": "]"}
_CLOSE = {")": ")", "]": "]", "}": "}", "%>": "}", ":>": "]"}
_TRIVIA = frozenset(" \t\f\v\r\n\\")
_IF = frozenset({"if", "ifdef", "ifndef"})
_ELSE = frozenset({"else", "elif", "elifdef", "elifndef"})


def split(text: str) -> list[str]:
    """Cut text into pieces (tokens, white space, comments); `"".join(split(text)) == text`."""
    if _RAW_HINT.search(text):
        return [m.group() for m in _SPLIT_RAW.finditer(text)]
    return _SPLIT.findall(text)


@dataclass(frozen=True, slots=True)
class Directive:
    """A preprocessor directive: tokens [first, stop) of `Lexed.t`, `t[first]` being its `#`.

    `keyword` is `include`, `define`, ... (empty for a lone `#`). `start`, `end`: bytes from the `#` to the end of
    its last token or trailing comment, without the newline.
    """

    keyword: str
    first: int
    stop: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Group:
    """One branch of a conditional: bytes between its directive's end and the next branch's or `#endif`'s start.

    `opener`: index in `directives` of the `#if`, `#elif`, `#else` that opens it; `chain`: indices of all directives
    of the conditional, in order, `#endif` last (absent if the file ends before it). `depth` counts from 0.
    """

    opener: int
    chain: tuple[int, ...]
    start: int
    end: int
    depth: int


@dataclass(frozen=True, slots=True)
class Lexed:
    """The significant tokens of a text: `t[i]` is a token, `p[i]` its byte offset.

    `match[i]` is the partner of a bracket, -1 where there is none. `comments` are byte ranges.
    """

    text: str
    t: list[str]
    p: list[int]
    match: list[int]
    directives: tuple[Directive, ...]
    groups: tuple[Group, ...]
    comments: tuple[tuple[int, int], ...]

    def end(self, i: int) -> int:
        """Offset after token i."""
        return self.p[i] + len(self.t[i])

    def at(self, offset: int) -> int:
        """Index of the first token that starts at or after a byte offset; len(t) if none."""
        return bisect_left(self.p, offset)

    def directive_at(self, i: int) -> Directive | None:
        """The directive that token i is a part of."""
        k = bisect_right(self.directives, i, key=lambda d: d.first) - 1
        if k >= 0 and i < self.directives[k].stop:
            return self.directives[k]
        return None


def lex(text: str) -> Lexed:
    """Tokens, directives, conditional groups and bracket partners of a text. Never fails."""
    t: list[str] = []
    p: list[int] = []
    comments: list[tuple[int, int]] = []
    raw: list[tuple[str, int, int, int, int]] = []  # directives: keyword, first, stop, start, end
    offset = 0
    line_start = True  # no significant token yet on this logical line
    first = -1  # first token of the directive we are in
    end = 0  # end of the last piece inside the directive
    pieces = split(text)
    if text.startswith(BOM):
        offset = len(pieces.pop(0))
    for piece in pieces:
        c = piece[0]
        size = len(piece)
        if c in _TRIVIA and (c != "\\" or size > 1):
            if c != "\\" and ("\n" in piece or "\r" in piece):
                if first >= 0:
                    raw.append((_keyword(t, first), first, len(t), p[first], end))
                    first = -1
                line_start = True
        elif c == "/" and size > 1 and piece[1] in "/*":
            comments.append((offset, offset + size))
            end = offset + size
        else:
            if line_start:
                if first < 0 and (piece == "#" or piece == "%:"):
                    first = len(t)
                line_start = False
            t.append(piece)
            p.append(offset)
            end = offset + size
        offset += size
    if first >= 0:
        raw.append((_keyword(t, first), first, len(t), p[first], end))
    directives = tuple(Directive(*r) for r in raw)
    groups = _groups(directives, len(text))
    return Lexed(text, t, p, _match(t, directives), directives, groups, tuple(comments))


def _keyword(t: list[str], first: int) -> str:
    word = t[first + 1] if first + 1 < len(t) else ""
    return word if word.isidentifier() else ""


def _groups(directives: tuple[Directive, ...], size: int) -> tuple[Group, ...]:
    open_chains: list[list[int]] = []
    done: list[tuple[list[int], int]] = []
    for k, d in enumerate(directives):
        if d.keyword in _IF:
            open_chains.append([k])
        elif d.keyword in _ELSE and open_chains:
            open_chains[-1].append(k)
        elif d.keyword == "endif" and open_chains:
            chain = open_chains.pop()
            chain.append(k)
            done.append((chain, len(open_chains)))
    for depth in range(len(open_chains) - 1, -1, -1):
        done.append((open_chains[depth], depth))
    groups = []
    for chain, depth in done:
        for n, k in enumerate(chain):
            if directives[k].keyword == "endif":
                continue
            stop = directives[chain[n + 1]].start if n + 1 < len(chain) else size
            groups.append(Group(k, tuple(chain), directives[k].end, stop, depth))
    return tuple(sorted(groups, key=lambda g: (g.start, g.depth)))


def _match(t: list[str], directives: tuple[Directive, ...]) -> list[int]:
    """Bracket partners. Each branch of a conditional starts from the brackets that were open at its `#if`."""
    match = [-1] * len(t)
    stack: list[int] = []
    saved: list[list[int]] = []
    position = 0
    for d in (*directives, None):
        stop = d.first if d is not None else len(t)
        _match_run(t, match, stack, position, stop)
        if d is None:
            break
        if d.keyword in _IF:
            saved.append(stack.copy())
        elif d.keyword in _ELSE and saved:
            stack[:] = saved[-1]
        elif d.keyword == "endif" and saved:
            saved.pop()
        _match_run(t, match, [], d.first, d.stop)
        position = d.stop
    return match


def _match_run(t: list[str], match: list[int], stack: list[int], start: int, stop: int) -> None:
    for i in range(start, stop):
        tok = t[i]
        if tok in _OPEN:
            stack.append(i)
        elif tok in _CLOSE and stack:
            want = _CLOSE[tok]
            if _OPEN[t[stack[-1]]] == want:
                j = stack.pop()
            else:  # a stray opener between: give it up if a partner lies below, else ignore this closer
                for k in range(len(stack) - 1, max(-1, len(stack) - 64), -1):
                    if _OPEN[t[stack[k]]] == want:
                        j = stack[k]
                        del stack[k:]
                        break
                else:
                    continue
            match[i] = j
            match[j] = i


def is_identifier(token: str) -> bool:
    """Whether a token is an identifier or keyword."""
    c = token[0]
    return (c.isalpha() or c in "_$" or c >= "\x80") and token[-1] not in "\"'"


def is_string(token: str) -> bool:
    """Whether a token is a string literal (also raw or unterminated)."""
    return token[0] == '"' or (token[0] in "uULR" and '"' in token[:4])
