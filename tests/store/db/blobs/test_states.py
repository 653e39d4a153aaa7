"""Any order of what two nodes do to one blob, with steps that arrive late and nodes that are killed: a row always has
its object, and nothing that was stored or kept is removed within a day. See docs/concepts/stored-files.md."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import sqlalchemy as sa
from anyio.from_thread import start_blocking_portal
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from outlast.base.errors import StorageUnavailable, StoredFileMissing
from outlast.db.blobs.bucket import Bucket
from outlast.db.blobs.cache import Cache
from outlast.db.blobs.index import Index
from outlast.db.blobs.s3 import S3Blobs
from outlast.db.blobs.tables import blobs as table
from outlast.db.connect import open_database
from outlast.db.tables import meta
from outlast.testing.clock import ManualClock

CONTENT = b"the content"
NAME = hashlib.sha256(CONTENT).hexdigest()
DAY_S = 86_400.0
NODES = st.integers(0, 1)
STEPS = st.sampled_from([1, 2, 9])
_current = threading.local()


class Killed(BaseException):
    """The node of an operation is gone."""


class Operation:
    """A call in a thread that waits before each of its steps."""

    def __init__(self, call: Callable[[], Any], done: Callable[[Any], None]) -> None:
        self._call, self._done = call, done
        self._waits, self._go = threading.Event(), threading.Event()
        self._is_killed = False
        self.is_over = False
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        self._waits.wait()

    def step(self) -> None:
        self._waits.clear()
        self._go.set()
        self._waits.wait()

    def kill(self) -> None:
        self._is_killed = True
        while not self.is_over:
            self.step()
        self._thread.join()

    def wait(self) -> None:
        self._waits.set()
        self._go.wait()
        self._go.clear()
        if self._is_killed:
            raise Killed

    def _run(self) -> None:
        _current.operation = self
        try:
            self._done(self._call())
        except (Killed, StorageUnavailable):
            pass
        finally:
            self.is_over = True
            self._waits.set()


def ignore(_found: Any) -> None:
    """The answer says nothing of the blob."""


def step() -> None:
    operation = getattr(_current, "operation", None)
    if operation is not None:
        operation.wait()


class SteppedIndex(Index):
    def write(self, fn: Any, *args: Any, **kwargs: Any) -> Any:
        step()
        return super().write(fn, *args, **kwargs)

    def read(self, fn: Any, *args: Any, **kwargs: Any) -> Any:
        step()
        return super().read(fn, *args, **kwargs)


class SteppedBucket:
    """The part of `Bucket` that stores, with what it holds in memory: each request is one step."""

    shown = "s3://memory"

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}

    def put(self, key: str, content: bytes) -> None:
        step()
        self.objects[key] = content

    def get(self, key: str) -> Iterator[bytes]:
        step()
        if key not in self.objects:
            raise StoredFileMissing("missing")
        yield self.objects[key]

    def get_range(self, key: str, offset: int, size: int) -> bytes:
        return b"".join(self.get(key))[offset : offset + size]

    def delete(self, keys: Sequence[str]) -> None:
        step()
        for key in keys:
            self.objects.pop(key, None)

    def listed(self) -> Iterator[list[str]]:
        step()
        yield list(self.objects)


def test_a_row_has_its_object_and_what_was_kept_stays_a_day(  # noqa: C901  # the rules of one machine
    migrated_sqlite: Path, tmp_path: Path
) -> None:
    clock = ManualClock()
    (tmp_path / "outlast.db").write_bytes(migrated_sqlite.read_bytes())
    with start_blocking_portal() as portal:

        async def opened() -> Any:
            return open_database(f"sqlite:///{tmp_path / 'outlast.db'}", tmp_path, clock)

        db = portal.call(opened)

        class Nodes(RuleBasedStateMachine):
            def __init__(self) -> None:
                super().__init__()
                portal.call(db.write, lambda tx: (tx.execute(sa.delete(table)), tx.execute(sa.delete(meta))))
                self.bucket = SteppedBucket()
                self.rows = SteppedIndex(db)
                self.nodes = [
                    S3Blobs(cast("Bucket", self.bucket), self.rows, Cache(tmp_path / str(number), 0))
                    for number in range(2)
                ]
                self.running: list[Operation] = []
                self.used_at = 0.0  # when it was last stored or kept, by an answer

            @initialize(is_old=st.booleans())
            def begin_with_one(self, is_old: bool) -> None:
                self.store(0, 9)
                if is_old:
                    self.pass_time(25)

            def begin(self, steps: int, call: Callable[[], Any], done: Callable[[Any], None] = ignore) -> None:
                self.running.append(Operation(call, done))
                self.go(self.running[-1], steps)

            def go(self, operation: Operation, steps: int) -> None:
                for _ in range(steps):
                    if not operation.is_over:
                        operation.step()
                self.running = [one for one in self.running if not one.is_over]

            def note(self, since: float) -> None:
                self.used_at = max(self.used_at, since)

            @rule(node=NODES, steps=STEPS)
            def store(self, node: int, steps: int) -> None:
                since = clock.now().timestamp()
                self.begin(steps, lambda: self.nodes[node].put(CONTENT), lambda _name: self.note(since))

            @rule(node=NODES, steps=STEPS)
            def keep(self, node: int, steps: int) -> None:
                since = clock.now().timestamp()
                self.begin(steps, lambda: self.nodes[node].keep(NAME), lambda kept: self.note(since) if kept else None)

            @rule(node=NODES, steps=STEPS)
            def collect(self, node: int, steps: int) -> None:
                before = clock.now().timestamp() - DAY_S
                self.begin(steps, lambda: self.nodes[node].remove_unused(NAME, before))

            @rule(node=NODES, steps=STEPS)
            def remove_objects_without_rows(self, node: int, steps: int) -> None:
                before = clock.now().timestamp() - DAY_S
                self.begin(steps, lambda: self.nodes[node].remove_unfinished(before))

            @precondition(lambda self: self.running)
            @rule(data=st.data(), steps=st.sampled_from([1, 9]))
            def go_on(self, data: st.DataObject, steps: int) -> None:
                self.go(data.draw(st.sampled_from(self.running)), steps)

            @precondition(lambda self: self.running)
            @rule(data=st.data())
            def kill(self, data: st.DataObject) -> None:
                operation = data.draw(st.sampled_from(self.running))
                operation.kill()
                self.running.remove(operation)

            @rule(hours=st.sampled_from([2, 25]))
            def pass_time(self, hours: float) -> None:
                clock.advance(hours * 3600)

            @invariant()
            def a_row_has_its_object(self) -> None:
                rows = portal.call(db.read, lambda tx: tx.execute(sa.select(table.c.name, table.c.place)).all())
                for name, place in rows:
                    assert f"{name[:2]}/{name[2:]}.{place}" in self.bucket.objects
                if clock.now().timestamp() - self.used_at < DAY_S - 1:
                    assert rows

            def teardown(self) -> None:
                for operation in self.running:
                    operation.kill()
                for name in portal.call(db.read, lambda tx: tx.execute(sa.select(table.c.name)).scalars().all()):
                    assert hashlib.sha256(self.nodes[0].get(name)).hexdigest() == name
                self.rows.close()

        try:
            run_state_machine_as_test(Nodes, settings=settings(deadline=None, max_examples=2 * settings().max_examples))
        finally:
            portal.call(db.aclose)
