"""The workloads, one module each: `measure(rig)` returns one contestant's figures; see ../README.md."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bench.figures import Figure, Results
from bench.rig import Rig
from bench.servers import CONTESTANTS
from bench.workloads import (
    cancelling,
    canvas,
    checkpoints,
    documents,
    edits,
    egress,
    growth,
    idle,
    many_followers,
    many_runs,
    one_answer,
    own_agents,
    parked,
    previews,
    resuming,
    retention,
    sandboxes,
    screens,
    searching,
    starts,
)


@dataclass(frozen=True, slots=True)
class Workload:
    """Measured for each contestant in a new rig; or (with `quick`) in its own rig: for Outlast
    only (`measure_alone`), or compared with a baseline of the workload (`measure_beside`)."""

    name: str
    measure: Callable[[Rig], Awaitable[list[Figure]]] | None = None
    measure_alone: Callable[[bool], Awaitable[list[Figure]]] | None = None
    measure_beside: Callable[[bool], Awaitable[Results]] | None = None
    contestants: tuple[str, ...] = CONTESTANTS
    sandboxes: bool = True
    agents: bool = False  # the server loads `bench/agents`


ALL: tuple[Workload, ...] = (
    Workload("W1", one_answer.measure),
    Workload("W2", many_runs.measure),
    Workload("W3", many_followers.measure),
    Workload("W4", starts.measure),
    Workload("W5", resuming.measure),
    Workload("W6", parked.measure, sandboxes=False),
    Workload("agents", own_agents.measure, contestants=("outlast", "postgres"), agents=True),
    Workload("cancel", cancelling.measure),
    Workload("idle", idle.measure),
    Workload("growth", measure_alone=growth.measure, contestants=("outlast",)),
    Workload("retention", measure_alone=retention.measure, contestants=("outlast",)),
    Workload("sandbox", measure_alone=sandboxes.measure, contestants=("outlast",)),
    Workload("checkpoint", measure_alone=checkpoints.measure, contestants=("outlast",)),
    Workload("egress", measure_alone=egress.measure, contestants=("outlast",)),
    Workload("preview", measure_alone=previews.measure, contestants=("outlast",)),
    Workload("canvas", measure_alone=canvas.measure, contestants=("outlast",)),
    Workload("edit", measure_alone=edits.measure, contestants=("outlast",)),
    Workload("documents", measure_beside=documents.measure, contestants=("outlast",)),
    Workload("search", measure_alone=searching.measure, contestants=("outlast",)),
    Workload("screen", measure_alone=screens.measure, contestants=("outlast",)),
)
