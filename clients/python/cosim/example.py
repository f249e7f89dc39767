"""What the examples share: a simulator of their own, packages that may be missing, and a table that judges."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import math
import shlex
import sys
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence

from derbench import Client, DerbenchError, Simulator

from .deadline import DeadlineError, deadline

__all__ = ["Report", "arguments", "required", "run", "simulator"]

Site = Mapping[str, Any]


def required(module: str, package: str) -> Any:
    """A module of another package. Ends the program with a sentence where it is missing."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        sys.exit(f"This example needs the Python package {package}: pip install {package} ({error})")


def arguments(description: Optional[str]) -> argparse.ArgumentParser:
    """Flags that all examples have."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--derbench", metavar="COMMAND", help="starts the simulator (default: as derbench.Simulator finds it)")
    parser.add_argument("--url", help="a simulator that is up, paused, with the devices of --site")
    parser.add_argument("--site", action="store_true", help="print the configuration of the devices, and end")
    parser.add_argument("--json", metavar="FILE", help="write the table to a file as well")
    parser.add_argument("--max_s", type=float, default=600, help="real seconds after which it gives up (default: 600)")
    return parser


@contextlib.contextmanager
def simulator(options: argparse.Namespace, site: Site) -> Iterator[Client]:
    """The simulator of --url, or one on free ports that ends with the block."""
    if options.url:
        yield Client(options.url)
        return
    command = None if options.derbench is None else shlex.split(options.derbench)
    with Simulator(command, **site) as started:
        yield started.client


class Report:
    """Rows of expected and computed values, printed as they come."""

    def __init__(self) -> None:
        self.rows: List[Dict[str, Any]] = []
        self.figures: Dict[str, Any] = {}

    def heading(self, text: str) -> None:
        """A section of the table."""
        print(f"\n{text}\n  {'':44}{'expected':>14}{'computed':>14}{'difference':>12}{'allowed':>10}")

    def compare(self, name: str, computed: float, expected: float, tolerance: float, unit: str = "") -> None:
        """One value against another."""
        difference = abs(computed - expected)
        self._row(name, difference <= tolerance, computed=computed, expected=expected, difference=difference, allowed=tolerance)
        label = f"{name}, {unit}" if unit else name
        mark = "" if difference <= tolerance else "  <-- out of bounds"
        print(f"  {label:44}{expected:14.6f}{computed:14.6f}{difference:12.1e}{tolerance:10.0e}{mark}")

    def columns(self, name: str, computed: Sequence[float], expected: Sequence[float], tolerance: float, unit: str = "") -> None:
        """The pair with the largest difference of two lists of one length."""
        if len(computed) != len(expected) or not computed:
            raise ValueError(f"{name}: {len(computed)} values against {len(expected)}")
        differences = [abs(one - other) for one, other in zip(computed, expected)]
        at = max(range(len(differences)), key=lambda place: math.inf if math.isnan(differences[place]) else differences[place])
        self.compare(f"{name}, worst of {len(computed)}", computed[at], expected[at], tolerance, unit)

    def true(self, sentence: str, holds: bool) -> None:
        """A statement about the run."""
        self._row(sentence, holds)
        print(f"  {sentence:94}{'yes' if holds else 'NO  <-- wrong'}")

    def _row(self, name: str, holds: bool, **values: float) -> None:
        self.rows.append({"name": name, "holds": bool(holds), **values})

    @property
    def holds(self) -> bool:
        """Whether every row is in its bounds."""
        return bool(self.rows) and all(row["holds"] for row in self.rows)


def run(parser: argparse.ArgumentParser, site: Callable[[argparse.Namespace], Site], example: Any) -> int:
    """Runs `example(options, client, report)`; the exit code is 0 when every row of its report holds."""
    options = parser.parse_args()
    devices = site(options)
    if options.site:
        print(json.dumps(devices, indent=2))
        return 0
    report = Report()
    try:
        with deadline(options.max_s, parser.prog), simulator(options, devices) as client:
            example(options, client, report)
    except DerbenchError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    except DeadlineError as error:
        print(error, file=sys.stderr)
        return 1
    print("\nevery value is in its bounds" if report.holds else "\nvalues are out of their bounds")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"holds": report.holds, "rows": report.rows, "figures": report.figures}, file, indent=1)
    return 0 if report.holds else 1
