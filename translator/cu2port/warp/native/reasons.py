"""Why code keeps CUDA's warps: the one table of reasons, and a refusal as a value."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Reason(Enum):
    """What is in the way. `{}` is a name, a kind of value or a type."""

    # of a whole function
    CONDITIONAL = "the function has conditional parts"
    GOTO = "`goto`"
    ASSEMBLY = "inline assembly"
    FIXED_SIZE = "`{}` has a fixed size"
    MACRO_OPERATION = "the macro `{}` holds an operation of the warp"
    MACRO_STATEMENTS = "the macro `{}` holds statements"
    MACRO_LANES = "the macro `{}` uses lanes"
    MACRO_PASTES = "the macro `{}` puts names together"
    REACHED = "`{}` is reached in other ways"
    USED = "`{}` is used in a way that is not understood"
    NO_IDIOM = "`{}` is no part of a proven idiom"
    RETURNS = "what `{}` returns depends on the number of lanes"
    CALLER_GETS = "the caller gets {} in `{}`"
    # of control flow
    ELSEWHERE = "some lanes may be elsewhere"
    MEET = "some lanes may be elsewhere when the warp's values are put together"
    MEET_IN = "some lanes may be elsewhere when `{}` is called"
    BRANCH = "a branch where the number of lanes decides who comes"
    BRANCH_INSIDE = "a branch of lanes inside another"
    OTHER_ARM = "the other arm of a branch of lanes"
    WHO_COMES = "the number of lanes decides who comes to the other arm"
    WHO_DOES = "the number of lanes decides who does this"
    WHO_READS = "the number of lanes decides who reads this"
    WHO_WRITES = "the number of lanes decides who writes this"
    WHO_CALLS = "the number of lanes decides who calls `{}`"
    JUMP = "`{}` where the number of lanes decides who comes"
    LOOP = "a loop where the number of lanes decides who comes"
    UNSETTLED = "a loop that does not settle"
    BARRIER = "a barrier for some lanes"
    # of values
    DIFFERS = "{} is used where it may differ"
    CHANGED = "{} is changed"
    REFERS = "`{}` refers to {}"
    GETS = "`{}` gets {}"
    TYPE = "`{}` ({}) gets {} ({})"
    CAST = "a cast to {} changes {}"
    SEEN = "`{}`, which other functions see, gets {}"
    SET_BY_SOME = "`{}` is set by some lanes of each warp"
    HOLDS = "`{}` holds {}"
    AGAIN = "`{}` is used again"
    READ_HOLDING = "`{}` is read where it holds {}"
    MORE_LANES = "more lanes read this than of a warp"
    # of calls
    CALL = "a call that is not understood"
    ANOTHER = "there may be another `{}`"
    HEADERS_HAVE = "headers have another `{}`"
    DIFFERENT = "functions named `{}` do different things"
    WHICH = "which `{}` is called is not certain"
    TEMPLATE = "`{}` has arguments of its template that are not understood"
    MORE_THAN = "other code may call `{}`, which is more than a reduction"
    ITSELF = "`{}` calls itself"
    MAY_HOLD = "`{}` may hold statements"
    SEMICOLON = "a macro without a semicolon"
    # of reductions
    OPERATION = "an operation that is not known"
    OTHER_OPERATION = "`{}` is put together by another operation than before"
    ALREADY = "`{}` is {} already"
    ONLY_FIRST = "only the first warp puts `{}` together"
    BECOMES = "what other lanes have of `{}` becomes {}"
    UNKNOWN_TYPE = "`{}` of a value whose type is not known"
    OF = "`{}` of {}"
    OF_ELSE = "`{}` of something else than what the warp's lanes come to"
    PLACES = "`{}` may go to different places for lanes of a warp"
    BEFORE = "something stands before the loop that is not understood"
    TILE = "a tile of another size, or in blocks with rows of threads"
    # of slots
    NO_SLOTS = "`{}` holds no value of each warp"
    NO_BARRIER = "there is no barrier before `{}` is read"
    OTHER_PLACE = "`{}` is read at another place than the lane's"
    LOOP_READ = "`{}` is read in a loop that is not understood"
    NO_VALUE = "`{}` has no known value in other lanes"
    BEYOND_TYPE = "lanes without a warp have a value of another type"
    BEYOND_COUNTS = "lanes without a warp have a value that may count"
    BEYOND_OWN = "lanes without a warp have values of their own"
    PLAINLY = "`{}` may hold something else where there is no warp"
    SLOT_ELSE = "`{}` has a slot for each warp and gets something else"
    SLOT_GETS = "`{}` gets something else than what the warp's lanes come to"
    DIMENSIONS = "`{}` has several dimensions"
    # of launches, and of a file
    NAMED = "`{}` names it, so that other files may launch it"
    LAUNCHES = "its launches are in other files"
    LAUNCHED = "it is launched in other ways"
    NO_LAUNCH = "no launch of it is seen"
    SHAPE = "its blocks may have more than {}"
    PARTIAL = "its blocks are no whole warps"
    SOLO = "it runs solo, or shares a function with one that does"
    MISUSED = "`{}` is called where more than its first thread may count"
    NOTHING = "what it does with warps is not understood"


@dataclass(frozen=True, slots=True)
class Refused:
    """A place (a token) that native code cannot be proved right for, and the reason. No error: the code stays."""

    at: int
    reason: Reason
    names: tuple[str, ...] = ()

    @property
    def why(self) -> str:
        """The reason as a sentence."""
        return self.reason.value.format(*self.names)
