"""What the server has done, in the text that Prometheus reads."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)  # seconds
OTHER = "other"


class Metrics:
    """Requests by path and status, and how long they took; gauges are asked for when they are read."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.know(paths)
        self._lock = threading.Lock()
        self._requests: Counter[tuple[str, int]] = Counter()
        self._seconds: Counter[str] = Counter()
        self._within: Counter[tuple[str, float]] = Counter()
        self.gauges: Callable[[], dict[str, dict[str, float]]] = dict

    def know(self, paths: Sequence[str]) -> None:
        """Any other paths are counted as one, so that nobody can make them many."""
        self._paths = frozenset(paths)

    @contextmanager
    def request(self, path: str, status: Callable[[], int]) -> Iterator[None]:
        path = path if path in self._paths else OTHER
        started = time.perf_counter()
        try:
            yield
        finally:
            took = time.perf_counter() - started
            with self._lock:
                self._requests[path, status()] += 1
                self._seconds[path] += took  # type: ignore[assignment]
                for bound in BUCKETS:
                    self._within[path, bound] += took <= bound

    def text(self) -> str:
        with self._lock:
            requests, seconds, within = dict(self._requests), dict(self._seconds), dict(self._within)
        lines = [
            "# HELP corate_requests_total Requests by path and status; 0: hung up.",
            "# TYPE corate_requests_total counter",
        ]
        lines += [
            f'corate_requests_total{{path="{path}",status="{status}"}} {n}'
            for (path, status), n in sorted(requests.items())
        ]
        name = "corate_request_seconds"
        lines += [f"# HELP {name} How long requests took.", f"# TYPE {name} histogram"]
        for path, total in sorted(seconds.items()):
            n = sum(count for (at, _), count in requests.items() if at == path)
            lines += [f'{name}_bucket{{path="{path}",le="{b:g}"}} {within[path, b]}' for b in BUCKETS]
            lines += [f'{name}_bucket{{path="{path}",le="+Inf"}} {n}']
            lines += [f'{name}_sum{{path="{path}"}} {total:.6f}', f'{name}_count{{path="{path}"}} {n}']
        for gauge, by_model in sorted(self.gauges().items()):
            lines += [f"# TYPE corate_{gauge} gauge"]
            lines += [f'corate_{gauge}{{model="{_escaped(m)}"}} {value:g}' for m, value in by_model.items()]
        return "\n".join(lines) + "\n"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
