"""Tests that failed are named at once, with their text; those tried once more at the end too, and too many fail it."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import pytest

ONE_IN = 2_500  # tests of a run may be tried again: 5 of the whole suite; a few are always let pass
ALWAYS = 2
MAX_RUNS = 2  # of the kept ones in which the same test may be tried again
KEPT_RUNS = 10
AT_ONCE = 6_000  # characters of a failure that are printed when it happens: a run that is ended shows nothing else
SERVER = "the server"  # the section of a failure's report in which the server under test tells of itself
WINDOW = "shown at "  # and those in which the windows of a browser test do
TOLD = (SERVER, WINDOW)
_KEY = "outlast/reruns"


def complaints(now: Sequence[str], tests: int, earlier: Sequence[Sequence[str]]) -> list[str]:
    """Why a run of `tests` whose `now` were tried again is no success; `earlier`: the same of the runs before it."""
    found = []
    most = max(ALWAYS, tests // ONE_IN)
    if len(now) > most:
        found.append(f"{len(now)} of {tests} tests were tried once more; at most {most} may be.")
    for name in dict.fromkeys(now):
        runs = 1 + sum(name in names for names in earlier)
        if runs > MAX_RUNS:
            found.append(f"{name} was tried once more in {runs} of the last {len(earlier) + 1} runs with such tests.")
    return found


class Reruns:
    """Watches one run. In a distributed run only the controller judges."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._names: list[str] = []
        self._passed = 0
        self._found: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        outcome: str = report.outcome  # the plugin that tries again adds a word to pytest's three
        if outcome == "rerun":
            self._names.append(report.nodeid)
        self._passed += outcome == "passed" and report.when == "call"
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if outcome in {"rerun", "failed"} and terminal is not None:
            text = "\n".join(
                [report.longreprtext[-AT_ONCE:], *(told for name, told in report.sections if name.startswith(TOLD))]
            )
            terminal.write_line(f"\n{outcome}: {report.nodeid} ({report.when})\n{text}")

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(self._config, "workerinput") or not self._names:
            return
        cache = getattr(self._config, "cache", None)  # switched off by -p no:cacheprovider
        earlier = cache.get(_KEY, []) if cache is not None else []
        self._found = complaints(self._names, self._passed, earlier)
        if cache is not None:
            cache.set(_KEY, [*earlier, self._names][-KEPT_RUNS:])
        if self._found and session.exitstatus == 0:
            session.exitstatus = 1

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> Generator[None]:
        """Write the names behind everything but pytest's last line, where the end of a long output still shows them."""
        yield
        if self._names:
            terminalreporter.section("tried once more")
            for line in (*dict.fromkeys(self._names), *self._found):
                terminalreporter.line(line)
