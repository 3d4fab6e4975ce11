"""A lossless lexer for C++ as CUDA programs write it, over all preprocessor branches.

`split(text)` cuts a text into pieces whose concatenation is the text, whatever the text is. `lex(text)` keeps the
significant ones with their offsets and finds directives and bracket partners. It knows no macro values and no
types: it reads both sides of every `#if`, macro bodies, and files that no compiler would take.

`>` is always a token of its own (`>>` may close two templates, `>>>` a launch); callers look at adjacency.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator
from itertools import accumulate, chain, repeat
from operator import sub
from typing import NamedTuple

from cu2port.core.late import dataclass, regex

_WORD = r"[A-Za-z0-9_$\x80-\xff]*+"
BOM = "\xef\xbb\xbf"  # UTF-8's byte order mark, as Latin-1 reads it
_BLANK = " \t\f\v\r\n"
_LINE = r"//(?:[^\n\r\\]|\\(?:\r\n|[\s\S])?)*+"  # line comment; a continuation prolongs it
_INSIDE = (
    r"\\(?:\r\n|\r|\n)"  # a line continuation
    rf"|{_LINE}"
    r"|/\*(?:[^*]|\*(?!/))*+(?:\*/)?"  # block comment, maybe unterminated
)
#: A pattern of what may stand between two tokens.
GAP = rf"[ \t\f\v\r\n]*+(?:(?:{_INSIDE})[ \t\f\v\r\n]*+)*+"
#: The same for a search, which may begin at many places of one comment: it reads a few comments, and no more of each
#: than 1,000 bytes.
NEAR = (
    r"[ \t\f\v\r\n]*+(?:(?:\\(?:\r\n|\r|\n)|//(?:[^\n\r\\]|\\(?:\r\n|[\s\S])?){0,1000}+"
    r"|/\*(?:[^*]|\*(?!/)){0,1000}+\*/)[ \t\f\v\r\n]*+){0,8}+"
)
# The most common first: a word that is no literal's prefix, and signs that begin nothing longer.
_TOKEN = (
    rf"[A-KM-QS-TV-Za-tv-z_$\x80-\xff]{_WORD}"
    r"|[(),;{}[\]]"
    r'|(?:u8|[uUL])?"(?:[^"\\\n\r]|\\(?:\r\n|[\s\S])?)*+"?'  # string, ends at the line's end at the latest
    r"|(?:u8|[uUL])?'(?:[^'\\\n\r]|\\(?:\r\n|[\s\S])?)+'"  # character
    rf"|[LRUu]{_WORD}"
    r"|\.?[0-9](?:[eEpP][+-]|'(?=[0-9A-Za-z_])|[0-9A-Za-z_.])*+"  # preprocessing number
    r"|<<<|<<=|>>=|<=>|<<|->\*|->|\.\.\.|\.\*|::|##|%:%:|%:|<%|%>|<:(?!:[^:>])|:>"
    r"|\+\+|--|&&|\|\||[-+*/%&|^!=<>]="
    r"|[\s\S]|\Z"
)
# A piece is a token and the gap before it. No token begins as a gap does, so a gap is taken whole, never given back.
_PIECE = re.compile(rf"{GAP}(?:{_TOKEN})")
# A raw string needs a back reference, whose group makes `findall` return tuples: only texts that hold `R"` pay.
_RAW = r'(?:u8|[uUL])?R"(?P<d>[^ ()\\\t\v\f\n\r]{0,16})\((?:[\s\S]*?\)(?P=d)"|[\s\S]*)'
_PIECE_RAW = regex(rf"{GAP}(?:{_RAW}|{_TOKEN})")
_RAW_HINT = re.compile(r'R"[^ ()\\\t\v\f\n\r]{0,16}\(')
_LINE_COMMENT = regex(_LINE)
_BLANKS = re.compile(rf"[{_BLANK}]*+")
_NOT_BLANK = ("//", "/*", "\\\n", "\\\r")  # how a gap goes on after blanks, if it does; no token begins so
_OPEN = {"(": ")", "[": "]", "{": "}", "<%": "}", "<:": "]"}
_CLOSE = {")": ")", "]": "]", "}": "}", "%>": "}", ":>": "]"}
_BRACKETS = frozenset({*_OPEN, *_CLOSE})
_STRAY = 62  # openers that may be passed over for a partner below them
_HASH = frozenset({"#", "%:"})
_IF = frozenset({"if", "ifdef", "ifndef"})
_ELSE = frozenset({"else", "elif", "elifdef", "elifndef"})


def split(text: str) -> list[str]:
    """Cut text into pieces, each a token with the blanks, comments and line continuations before it.

    `"".join(split(text)) == text`. A byte order mark is a piece of its own; the last piece may hold no token.
    """
    start = len(BOM) if text.startswith(BOM) else 0
    if _RAW_HINT.search(text):
        pieces = [m.group() for m in _PIECE_RAW.finditer(text, start)]
    else:
        pieces = _PIECE.findall(text, start)
    if pieces and not pieces[-1]:
        pieces.pop()
    if start:
        pieces.insert(0, BOM)
    return pieces


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

    `places`: every different token and the indices where it stands. `match[i]` is the partner of a bracket, -1 where
    there is none. `comments` are byte ranges.
    """

    text: str
    t: list[str]
    p: list[int]
    places: dict[str, list[int]]
    match: list[int]
    directives: tuple[Directive, ...]
    groups: tuple[Group, ...]
    comments: tuple[tuple[int, int], ...]
    firsts: list[int]  # of the directives

    def end(self, i: int) -> int:
        """Offset after token i."""
        return self.p[i] + len(self.t[i])

    def at(self, offset: int) -> int:
        """Index of the first token that starts at or after a byte offset; len(t) if none."""
        return bisect_left(self.p, offset)

    def directive_at(self, i: int) -> Directive | None:
        """The directive that token i is a part of."""
        k = self.directive_index(i)
        return self.directives[k] if k >= 0 else None

    def directive_index(self, i: int) -> int:
        """Which of `directives` token i is a part of; -1 if none."""
        k = bisect_right(self.firsts, i) - 1
        return k if k >= 0 and i < self.directives[k].stop else -1

    def after_directives(self, i: int) -> int:
        """The end of the last directive that begins at or before token i; 0 if none does."""
        k = bisect_right(self.firsts, i) - 1
        return self.directives[k].stop if k >= 0 else 0

    def directives_in(self, start: int, end: int) -> tuple[Directive, ...]:
        """The directives that start in bytes [start, end)."""
        return self.directives[bisect_left(self.firsts, self.at(start)) : bisect_left(self.firsts, self.at(end))]


def lex(text: str) -> Lexed:
    """Tokens, directives, conditional groups and bracket partners of a text. Never fails."""
    pieces = split(text)
    ends = list(accumulate(map(len, pieces)))
    if text.startswith(BOM):
        del pieces[0], ends[0]
    t = list(map(str.lstrip, pieces, repeat(_BLANK)))
    standing: defaultdict[str, list[int]] = defaultdict(list)
    for i, tok in enumerate(t):
        standing[tok].append(i)
    places = dict(standing)
    comments: list[tuple[int, int]] = []
    gaps: dict[int, _Gap] = {}
    moved: set[str] = set()
    for i in sorted(chain.from_iterable([places.pop(x) for x in list(places) if x.startswith(_NOT_BLANK)])):
        piece = pieces[i]
        gap = gaps[i] = _read_gap(piece, len(piece) - len(t[i]), ends[i] - len(piece), comments)
        t[i] = piece[gap.size :]
        places.setdefault(t[i], []).append(i)
        moved.add(t[i])
    for tok in moved:
        places[tok].sort()
    p = list(map(sub, ends, map(len, t)))
    directives = tuple(_directives(text, pieces, t, p, gaps, _merged(places, _HASH)))
    if "" in places:  # what stands after the last token
        t.pop()
        p.pop()
        del places[""]
    match = _match(t, directives, _merged(places, _BRACKETS))
    firsts = [d.first for d in directives]
    return Lexed(text, t, p, places, match, directives, _groups(directives, len(text)), tuple(comments), firsts)


def _merged(places: dict[str, list[int]], tokens: frozenset[str]) -> list[int]:
    """Where any of some tokens stands, in order."""
    return sorted(chain.from_iterable([places[x] for x in tokens if x in places]))


class _Gap(NamedTuple):
    """What stands before a token, where it is more than blanks. `size`: bytes; `breaks`: it holds a newline that ends
    a line; `comment_end`: where the last comment before that newline ends, as an offset in the text, or 0."""

    size: int
    breaks: bool
    comment_end: int


def _read_gap(piece: str, at: int, start: int, comments: list[tuple[int, int]]) -> _Gap:
    """The gap of a piece that starts at byte `start` and has more than blanks from byte `at` of it on; its comments are
    added to `comments`."""
    comment_end = 0
    breaks = _has_newline(piece[:at]) if at else False
    while piece.startswith(_NOT_BLANK, at):
        if piece[at] == "\\":
            end = at + (3 if piece.startswith("\r\n", at + 1) else 2)
        else:
            end = _comment_end(piece, at)
            comments.append((start + at, start + end))
            if not breaks:
                comment_end = start + end
        blanks = _BLANKS.match(piece, end)  # no slice: a gap may hold thousands of comments
        at = blanks.end() if blanks is not None else end
        breaks = breaks or (at > end and _has_newline(piece[end:at]))
    return _Gap(at, breaks, comment_end)


def _comment_end(piece: str, at: int) -> int:
    """Where the comment at byte `at` of a piece ends."""
    if piece[at + 1] == "*":
        end = piece.find("*/", at + 2)
        return len(piece) if end < 0 else end + 2
    end = piece.find("\n", at)
    end = len(piece) if end < 0 else end
    if piece.find("\\", at, end) < 0 and piece.find("\r", at, end) < 0:
        return end
    m = _LINE_COMMENT.match(piece, at)
    return m.end() if m is not None else end


def _has_newline(text: str) -> bool:
    return "\n" in text or "\r" in text


def _directives(
    text: str, pieces: list[str], t: list[str], p: list[int], gaps: dict[int, _Gap], hashes: list[int]
) -> Iterator[Directive]:
    """Directives: from a `#` that begins a line to that line's end. `hashes`: the tokens that may begin one."""

    def breaks(i: int) -> bool:
        gap = gaps.get(i)
        if gap is not None:
            return gap.breaks
        size = len(pieces[i]) - len(t[i])
        return size > 0 and _has_newline(pieces[i][:size])

    count = len(t) - (bool(t) and not t[-1])
    past = 0
    for i in hashes:
        if i < past or (i and not breaks(i)):
            continue
        past = _line_stop(text, t, p, i, count)
        if past < 0:
            past = i + 1
            while past < count and not breaks(past):
                past += 1
        end = p[past - 1] + len(t[past - 1])
        if past in gaps and gaps[past].comment_end:
            end = gaps[past].comment_end
        word = t[i + 1] if i + 1 < past else ""
        yield Directive(word if word.isidentifier() else "", i, past, p[i], end)


def _line_stop(text: str, t: list[str], p: list[int], i: int, count: int) -> int:
    """The first token after the line of token i, -1 where newlines alone do not tell: a block comment, a continuation
    or a raw string may go on, and a lone carriage return ends a line too."""
    start = p[i]
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    if text.find("\\", start, end) >= 0 or text.find("/*", start, end) >= 0 or text.find("\r", start, end - 1) >= 0:
        return -1
    stop = bisect_left(p, end, i + 1, count)
    return stop if p[stop - 1] + len(t[stop - 1]) <= end else -1


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
        whole = tuple(chain)  # one for all branches: a chain may have thousands
        for n, k in enumerate(chain):
            if directives[k].keyword == "endif":
                continue
            stop = directives[chain[n + 1]].start if n + 1 < len(chain) else size
            groups.append(Group(k, whole, directives[k].end, stop, depth))
    return tuple(sorted(groups, key=lambda g: (g.start, g.depth)))


_NEVER = ["if", "0"]
# open brackets, the innermost first: what closes it, its token, those around it; shared by a conditional's branches
_Stack = tuple[str, int, "_Stack"] | None


def _match(t: list[str], directives: tuple[Directive, ...], brackets: list[int]) -> list[int]:
    """Bracket partners. Each branch of a conditional starts from the brackets that were open at its `#if`; what stands
    below `#if 0` has partners there alone."""
    match = [-1] * len(t)
    brackets.append(len(t))
    stack: _Stack = None
    saved: list[tuple[_Stack, bool]] = []
    at = 0
    for d in directives:
        if brackets[at] < d.first:
            at, stack = _match_run(t, match, stack, brackets, at, d.first)
        if d.keyword in _IF:
            out = t[d.first + 1 : d.stop] == _NEVER
            saved.append((stack, out))
            stack = None if out else stack
        elif d.keyword in _ELSE and saved:
            stack = saved[-1][0]
            saved[-1] = stack, False
        elif d.keyword == "endif" and saved:
            before, out = saved.pop()
            stack = before if out else stack
        if brackets[at] < d.stop:
            at, _ = _match_run(t, match, None, brackets, at, d.stop)
    _match_run(t, match, stack, brackets, at, len(t))
    return match


def _match_run(
    t: list[str], match: list[int], stack: _Stack, brackets: list[int], at: int, stop: int
) -> tuple[int, _Stack]:
    """Match the brackets before token `stop`, from `brackets[at]` on; the place in `brackets` that was reached, and
    what is open there."""
    while (i := brackets[at]) < stop:
        at += 1
        tok = t[i]
        want = _OPEN.get(tok)
        if want is not None:
            stack = (want, i, stack)
        elif stack is not None:
            closes = _CLOSE[tok]
            want, j, rest = stack
            if want != closes:  # a stray opener between: give it up if a partner is below, else ignore this closer
                for _ in range(_STRAY):
                    if rest is None:
                        break
                    want, j, rest = rest
                    if want == closes:
                        break
                if want != closes:
                    continue
            stack = rest
            match[i] = j
            match[j] = i
    return at, stack


def is_identifier(token: str) -> bool:
    """Whether a token is an identifier or keyword."""
    c = token[:1]  # "" stands for what is before and after a file
    return (c.isalpha() or c in ("_", "$") or c >= "\x80") and token[-1] not in "\"'"


def is_string(token: str) -> bool:
    """Whether a token is a string literal (also raw or unterminated)."""
    c = token[:1]
    return c == '"' or (c in "uULR" and '"' in token[:4])
