"""CU9xx: rules on files: what cu2port could not do with a file. One row per rule; the caller makes the message."""

from __future__ import annotations

from collections.abc import Mapping

from cu2port.core.late import dataclass
from cu2port.core.model import Finding, Judged, Outcome, Severity, Trust


@dataclass(frozen=True, slots=True)
class FileRule:
    """A rule on files. `page`: what `explain` shows; its first line is what `rules` lists."""

    code: str
    name: str
    severity: Severity
    page: str

    def finding(self, message: str, start: int = 0, end: int = 0) -> Finding:
        """A finding on a file or on some of its bytes. `message`: what is wrong, then what to do."""
        return Finding(self.code, self.name, self.severity, message, start, end, trust=Trust.MANUAL)

    def on_file(self, message: str) -> Judged:
        """A finding on a whole file, for manual review."""
        return Judged(self.finding(message), Outcome.MANUAL)


def unread(error: OSError) -> Judged:
    """A file that is not looked at since it could not be read."""
    return UNREADABLE.on_file(f"could not be read ({error.strerror}); fix that")


def too_large(most: int) -> Judged:
    """A file that is not looked at since it has more bytes than `most`."""
    return TOO_LARGE.on_file(f"larger than --max-size ({most} bytes), not looked at; raise --max-size")


TOO_LARGE = FileRule(
    "CU901",
    "file-too-large",
    Severity.WARNING,
    """A source file is larger than --max-size.

It was copied as it is. Sources of that size are mostly generated tables; if this one holds CUDA code, raise the limit
(`--max-size 32M`).""",
)
NOT_TEXT = FileRule(
    "CU902",
    "not-text",
    Severity.WARNING,
    """A source file is UTF-16, UTF-32 or holds NUL bytes.

cu2port edits bytes and keeps every 8-bit encoding as it is. It was copied as it is. Save it as UTF-8
(`iconv -f UTF-16 -t UTF-8`) and convert again; a stray NUL byte is best removed.""",
)
UNREADABLE = FileRule(
    "CU903",
    "unreadable",
    Severity.ERROR,
    """A file or folder could not be read.

There is no output for it. Give yourself the right to read it, then convert again.""",
)
LEXER_ALONE = FileRule(
    "CU904",
    "lexer-alone",
    Severity.WARNING,
    """libclang did not finish with a file, so it was converted from its tokens alone.

libclang overflows its stack on thousands of nested parentheses, and can be slow on huge expressions. What only types
or constants can decide was left or treated as CUDA's; read the changes of this file with more care.""",
)
INTERNAL = FileRule(
    "CU905",
    "internal-error",
    Severity.ERROR,
    """cu2port failed on a file, with and without libclang.

The file was copied as it is. This is a fault of cu2port: please report it with the line that `-v` prints.""",
)


def lost(reason: str, more: str = "") -> Judged:
    """The finding for a job that no worker could do; `more`: what happened to the file."""
    return INTERNAL.on_file(f"cu2port failed on this file ({reason}), also without libclang{more}; please report")


def not_scanned(reason: str) -> Judged:
    """The finding for a file whose declarations could not be read for the other files."""
    return INTERNAL.on_file(f"cu2port could not tell what this file declares for others ({reason}); please report")


LEAVES_TREE = FileRule(
    "CU906",
    "link-leaves-tree",
    Severity.WARNING,
    """A link leads out of the input.

As in git, the link is kept with the text that it has, and never followed: nothing outside the input is read, converted
or copied. Where the port needs what it leads to, put that in the input in place of the link, or pass it as an
input too.""",
)
LINK_LOOP = FileRule(
    "CU908",
    "link-loop",
    Severity.INFO,
    """A link leads to nothing, to itself or to a folder that holds it.

It was kept as it is and not followed.""",
)
NAME_TAKEN = FileRule(
    "CU909",
    "name-taken",
    Severity.WARNING,
    """--rename would give a file a name that another file has.

It kept its name, and so did the includes of it. Rename one of the two.""",
)
IN_THE_WAY = FileRule(
    "CU910",
    "output-changed",
    Severity.ERROR,
    """A file in the output folder was changed since cu2port wrote it, and its source changed too.

It was left as it is, so that no work is lost. Merge by hand, or let `--force` replace it.""",
)
FOREIGN_HEADER = FileRule(
    "CU911",
    "header-in-the-way",
    Severity.ERROR,
    """A file that is not cu2port's has the name of a header that converted code needs.

It was left as it is, and the converted code will include the wrong file. Rename or move it.""",
)
SOURCE_FOLDER = FileRule(
    "CU912",
    "folder-named-like-source",
    Severity.INFO,
    """A folder has the name of a source file, such as `x.cu`.

Its files are converted; the folder keeps its name.""",
)
SPECIAL = FileRule(
    "CU913",
    "special-file",
    Severity.INFO,
    """A pipe, socket or device is in the tree.

There is nothing to copy, so the output does not have it.""",
)
UNUSED_SUPPRESSION = FileRule(
    "CU914",
    "unused-suppression",
    Severity.WARNING,
    """A comment `cu2port: ignore` silences nothing.

What it was for is gone, or it names the wrong rule or line. Left in place it would hide the next mistake there.
Remove it.""",
)
BAD_SUPPRESSION = FileRule(
    "CU915",
    "bad-suppression",
    Severity.WARNING,
    """A comment `cu2port: ignore` cannot be read: it names no known rule, or its block is not closed.

It silences nothing. Rules are named by code, prefix or name (`cu2port rules` lists them); `ignore-begin` needs an
`ignore-end` after it.""",
)
NOT_REPLACED = FileRule(
    "CU916",
    "not-replaced",
    Severity.ERROR,
    """A file was left as it is, because replacing it would have lost something.

Somebody saved it while cu2port ran: convert again. Or it has several names (hard links), belongs to another user, or
has extended attributes that a new file could not have: convert a copy of it, or let `--force` replace it.""",
)
OLD_NAME = FileRule(
    "CU920",
    "old-name-in-build-file",
    Severity.WARNING,
    """A build file names a source that --rename gives another suffix.

The names in CMake and Make files follow. Other build files, and all with `--no-build-files`, are copied as they are, so
the build still asks for the old name. Write the new name in the lines that the message gives.""",
)
VENDORED = FileRule(
    "CU921",
    "vendored-library",
    Severity.INFO,
    """A folder is a copy of CUB, NVTX or Thrust, or of Eigen with its code for HIP; or a file of a header of CUDA.

Its files are copied as they are. CUB, NVTX and Thrust are written for NVIDIA's GPUs or tools: includes of them become
those of hipCUB, ROCTX or rocThrust, which come with ROCm. Remove the folder when the port builds. So it is with
headers of CUDA's toolkit, such as `vector_types.h`, which have NVIDIA's notice. Eigen 3.4 and newer chooses between
CUDA and HIP by itself, so it stays.""",
)

FILE_RULES: Mapping[str, FileRule] = {
    t.code: t
    for t in (
        TOO_LARGE,
        NOT_TEXT,
        UNREADABLE,
        LEXER_ALONE,
        INTERNAL,
        LEAVES_TREE,
        LINK_LOOP,
        NAME_TAKEN,
        IN_THE_WAY,
        FOREIGN_HEADER,
        SOURCE_FOLDER,
        SPECIAL,
        UNUSED_SUPPRESSION,
        BAD_SUPPRESSION,
        NOT_REPLACED,
        OLD_NAME,
        VENDORED,
    )
}
