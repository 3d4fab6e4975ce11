"""Functions that are nothing but a scan over the warp."""

from __future__ import annotations

from cu2port.warp.native.lanes import Summary
from cu2port.warp.native.numbers import is_identity
from cu2port.warp.native.scan_idioms import Questions, ScanMatcher, shifted
from cu2port.warp.native.scans import SIDES
from cu2port.warp.native.stores import Stores
from cu2port.warp.native.types import declared_type
from cu2port.warp.native.values import Kind, T
from cu2port.warp.tree import Binary, Decl, Expr, Jump, Name, Stmt, Ternary


class ScanFunctions(Stores):
    """What a function does that is a scan of its first parameter."""

    @staticmethod
    def _is_name(e: Expr, name: str) -> bool:
        return isinstance(e, Name) and e.text == name and not e.qualified and not e.targs

    def _pure_scan(self) -> Summary | None:
        """What a function does that is nothing but a scan over the warp of its first parameter; None for any other."""
        params, body = self.d.params, list(self.d.body.body)
        if not self._has_scans() or not 1 <= len(params) <= 2 or self.d.kernel or self.lent or len(body) < 2:
            return None
        if any(p.pointer for p in params) or not isinstance(body[-1], Jump) or body[-1].kind != "return":
            return None
        own = self.types.get(params[0].name, "")
        made = declared_type(self.unit, self.d.fn.name_at)
        if (
            not own
            or made not in (own, "auto")
            or any(x.name != own for x in self.d.tparams)
            or len(self.d.tparams) > 1
        ):
            return None  # what it returns has another type
        second = params[1].default if len(params) == 2 else None
        masks = {params[1].name} if second is not None and self.idioms.full(second) else set[str]()
        lanes = {params[1].name} if len(params) == 2 and second is None else set[str]()
        value, copies = params[0].name, {params[0].name: params[0].name}
        while body and isinstance(d := body[0], Decl) and d.init is not None and not d.shared:
            if self._lane(d.init) is not None:
                lanes.add(d.name)
            elif self._is_name(d.init, value) and declared_type(self.unit, d.at) in (own, "auto"):
                if self.unit.tok(d.at - 1) in ("&", "*", "&&"):
                    return None
                copies[d.name] = value
            else:
                break
            body.pop(0)

        def lane(e: Expr) -> bool:
            return (isinstance(e, Name) and e.text in lanes) or self._lane(e) is not None

        def full(e: Expr) -> bool:
            return (isinstance(e, Name) and e.text in masks) or self.idioms.full(e)

        ask = Questions(lane, full, lambda _: False)
        got = ScanMatcher(self.idioms, ask).match(body, 0)
        if got is None or len(got.found) != 1 or got.loose or got.found[0].name not in copies or not got.shuffles:
            return None
        self._see_room(got.found[0])
        op, call = got.found[0].op, got.found[0].call
        scanned = got.found[0].name
        kind = self._returned(body[got.size :], scanned, copies.keys() - {scanned}, op, ask)
        if kind is None or not isinstance(call[0], str):
            return None
        if kind is Kind.UPTO:
            if op != "add":
                return None
            call = ("exclusive_sum(" + scanned + ")",)
        kinds = ("" if self.d.tparams else own,)
        return Summary(
            T(kind, op), reduction=call, meets=True, scans=op, arguments=1 + len(lanes & {params[-1].name}), kinds=kinds
        )

    def _returned(self, rest: list[Stmt], v: str, own: set[str], op: str, ask: Questions) -> Kind | None:
        """PREFIX for `return v;`, UPTO for `return v - own;` and for what the lane before has, 0 in the first."""
        last = rest[-1] if rest else None
        if not isinstance(last, Jump) or last.value is None:
            return None
        e = last.value
        if len(rest) == 1 and self._is_name(e, v):
            return Kind.PREFIX
        if len(rest) == 1 and isinstance(e, Binary) and e.op == "-":
            less = any(self._is_name(e.b, x) for x in own)
            return Kind.UPTO if op == "add" and self._is_name(e.a, v) and less else None
        if len(rest) != 2 or op != "add":
            return None
        below, up = rest[0], None
        if isinstance(below, Decl) and below.init is not None:
            up = shifted(self.idioms, below.init, ask)
        if up is None or not isinstance(below, Decl) or self.idioms.number(up.distance) != 1:
            return None
        if not self._is_name(up.value, v) or not isinstance(e, Ternary):
            return None
        side = self._compared(e.cond, ask)
        yes, no = (e.a, e.b) if side > 0 else (e.b, e.a)
        zero = is_identity(self.unit, op, no)
        return Kind.UPTO if side and zero and self._is_name(yes, below.name) else None

    def _compared(self, e: Expr, ask: Questions) -> int:
        """1 for `lane > 0`, -1 for `lane == 0`."""
        if ask.lane(e):
            return 1
        if not isinstance(e, Binary) or not ask.lane(e.a):
            return 0
        n = self.idioms.fold(e.b)
        return SIDES.get((e.op, n), 0) if n is not None else 0
