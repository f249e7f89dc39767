"""A bound for blocks that wait for other programs, as for a world or a federation: none of them may wait for ever."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import sys
import threading
from typing import Any, Iterator

__all__ = ["DeadlineError", "deadline"]

#: seconds in which an interrupted program may end what it has started
_GRACE_S = 15


class DeadlineError(Exception):
    """A block has not ended in time."""


class _Late(BaseException):
    """Leaves a block through everything that catches errors, and Ctrl+C, in it."""


def _interrupt_main() -> None:
    """Has the main thread run its handler of SIGINT, also while it waits."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)


@contextlib.contextmanager
def deadline(seconds: float, name: str, grace_s: float = _GRACE_S) -> Iterator[None]:
    """Leaves a block of the main thread after so many real seconds, and prints where the threads of the program stand.

    Raises DeadlineError once the block has cleaned up. A block that has not within `grace_s` ends the program with code 1.
    """
    text = f"{name} has not ended within {seconds:g} s"
    is_over, is_late = threading.Event(), threading.Event()
    former = signal.getsignal(signal.SIGINT)

    def leave(number: int, frame: Any) -> None:
        if is_late.is_set():
            raise _Late
        if callable(former):
            former(number, frame)

    def watch() -> None:
        if is_over.wait(seconds):
            return
        print(f"{text}; its threads stand at:", file=sys.stderr, flush=True)
        faulthandler.dump_traceback(file=sys.stderr, all_threads=True)
        is_late.set()
        _interrupt_main()
        if not is_over.wait(grace_s):
            print(f"{text}, and does not clean up", file=sys.stderr, flush=True)
            os._exit(1)

    watcher = threading.Thread(target=watch, daemon=True)
    signal.signal(signal.SIGINT, leave)
    watcher.start()
    try:
        yield
        is_over.set()
        watcher.join()
    except _Late:
        pass
    finally:
        is_over.set()
        signal.signal(signal.SIGINT, signal.SIG_DFL if former is None else former)
    if is_late.is_set():
        raise DeadlineError(text)
