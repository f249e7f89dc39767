"""A balance between a solver and devices at one instant: solve, ask the devices, solve again, until the voltages stay."""

from __future__ import annotations

import math
from typing import Any, Callable, Dict, List, Mapping, NamedTuple

__all__ = ["Balance", "converge", "powers_of"]

Columns = Dict[str, List[float]]

#: columns of power in an answer of the exchange
_POWER_COLUMNS = ("p_w", "q_var", "pa_w", "pb_w", "pc_w", "qa_var", "qb_var", "qc_var")


class Balance(NamedTuple):
    """voltages: members of the next step. powers: columns with which the solver found them."""

    voltages: Mapping[str, Any]
    powers: Columns
    rounds: int
    has_converged: bool


def powers_of(answer: Mapping[str, Any]) -> Columns:
    """The columns of power of an answer; null, of a missing phase or a removed device, is 0."""
    return {name: [value or 0.0 for value in answer[name]] for name in _POWER_COLUMNS if name in answer}


def converge(
    solve: Callable[[Columns], Mapping[str, Any]],
    trial: Callable[..., Mapping[str, Any]],
    powers: Columns,
    tolerance_w: float = 0.01,
    max_rounds: int = 100,
) -> Balance:
    """The balance of a grid and its devices, from the powers of the last answer.

    solve: members of `trial`, such as `va_pu`, for columns of power. trial: an answer with the same columns, as
    `Exchange.trial`. The devices and the solver agree when no power moves by more than tolerance_w (W or var).

    Powers move all the way at first. Where they swing, or move farther from round to round, the loop is steeper than 1, and
    the move is halved.
    """
    share, before = 1.0, {}
    for round_ in range(1, max_rounds + 1):
        voltages = solve(powers)
        answer = powers_of(trial(**voltages))
        moves = {name: [new - old for new, old in zip(answer[name], powers[name])] for name in powers}
        if _largest(moves) <= tolerance_w:
            return Balance(voltages, powers, round_, True)
        if before and _overshoots(moves, before):
            share /= 2
        powers = {name: [old + share * move for old, move in zip(powers[name], moves[name])] for name in powers}
        before = moves
    return Balance(solve(powers), powers, max_rounds, False)


def _largest(moves: Columns) -> float:
    return max(abs(move) for column in moves.values() for move in column)


def _overshoots(moves: Columns, before: Columns) -> bool:
    growth = math.sqrt(_product(moves, moves) / _product(before, before))
    turned = _product(moves, before) < 0
    return growth >= 1 or (turned and growth > 0.5)


def _product(some: Columns, others: Columns) -> float:
    return sum(one * other for name in some for one, other in zip(some[name], others[name]))
