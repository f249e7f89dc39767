"""Fixture `derbench` for pytest: the client of a simulator with a paused clock, for the length of one test.

    import pytest

    @pytest.mark.derbench(device_type="Batt", N=3)
    def test_limit(derbench):
        derbench.write(704, {"WMaxLimPct": 50, "WMaxLimPctEna": "ENABLED"})
        assert derbench.until("701.W", lambda watts: watts <= 5000) == 5000

The marker has the settings of the simulator, as `derbench.Simulator` takes them. With `--derbench-url URL` the tests use a
simulator that runs already; those that need settings of their own are skipped.
"""

from __future__ import annotations

from typing import Any, Generator, List, Optional, Set

import pytest

from . import Client, DerbenchError, Simulator

_LOG_LINES = 20
_DEVICES = 8


class _WatchedClient(Client):
    """A client that remembers which devices a test named, for the report of its failure."""

    def __init__(self, url: str) -> None:
        self.named: Set[int] = set()
        super().__init__(url)

    def _request(self, method: str, path: str, query: Any, *more: Any, **options: Any) -> Any:
        device = query.get("device")
        if isinstance(device, int):
            self.named.add(device)
        return super()._request(method, path, query, *more, **options)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("derbench").addoption(
        "--derbench-url",
        metavar="URL",
        help="address of a running simulator; without it each test starts one of its own",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "derbench(**settings): settings of the simulator of this test, as N=3")


def _settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    marker = request.node.get_closest_marker("derbench")
    if marker is None:
        return {}
    if marker.args:
        raise pytest.UsageError("the marker derbench takes settings by name, such as N=3")
    return dict(marker.kwargs)


@pytest.fixture
def derbench(request: pytest.FixtureRequest) -> Generator[Client, None, None]:
    """The client of a simulator, whose clock is paused."""
    settings = _settings(request)
    url = request.config.getoption("--derbench-url")
    if url is None:
        with Simulator(**settings) as simulator:
            yield from _watched(request, simulator.client.url, simulator)
        return
    if settings:
        pytest.skip(f"the test needs a simulator with {', '.join(sorted(settings))}; --derbench-url gives another one")
    yield from _watched(request, url, None)


def _watched(
    request: pytest.FixtureRequest, url: str, simulator: Optional[Simulator]
) -> Generator[Client, None, None]:
    """A client that a failure can be explained by, as long as the simulator runs."""
    client = _WatchedClient(url)
    client.pause()
    request.node.stash[_STATE] = (client, simulator)
    try:
        yield client
    finally:
        client.close()


_STATE = pytest.StashKey[Any]()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, None]:
    """Adds to the report of a failure why the devices deliver what they deliver, and the last lines of the log."""
    outcome = yield
    report = outcome.get_result()
    state = item.stash.get(_STATE, None)
    if call.when != "call" or not report.failed or state is None:
        return
    client, simulator = state
    report.sections.append(("derbench: why", "\n".join(_reasons(client))))
    report.sections.append(("derbench: log", "\n".join(_log(client, simulator))))


def _log(client: Client, simulator: Optional[Simulator]) -> List[str]:
    """The last lines that the simulator of the test has printed, or that a running one keeps."""
    if simulator is not None:
        return simulator.log[-_LOG_LINES:]
    try:
        kept = client.get("logs", limit=_LOG_LINES)["logs"]
        return [f"{each['timestamp']} {each['level']} {each['module']}: {each['message']}" for each in kept]
    except (DerbenchError, KeyError, TypeError) as error:
        return [str(error)]


def _reasons(client: _WatchedClient) -> List[str]:
    """One sentence for each device that the test named, or for the first one."""
    lines: List[str] = []
    for device in sorted(client.named or {0})[:_DEVICES]:
        try:
            lines.append(f"device {device}: {client.get('controls/why', device=device)['sentence']}")
        except (DerbenchError, KeyError, TypeError) as error:
            lines.append(f"device {device}: {error}")
    return lines
