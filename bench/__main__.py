"""The benchmarks' command line: runs the chosen workloads for every contestant and prints the table."""

import argparse
import gc
import platform
import sys

import anyio
import uvloop

from bench.figures import Figure, Results, median, print_table
from bench.rig import rig
from bench.servers import CONTESTANTS, CORES, pin_client
from bench.workloads import ALL, Workload
from outlast.apps import APPS
from outlast.kernel.apps import packages, registry


async def run(workload: Workload, contestants: list[str], quick: bool, rounds: int) -> Results:
    """Runs every contestant in turn, round by round, so that a slow minute of the machine affects all of them."""
    packages.declare(APPS)
    registry.load()  # some workloads measure parts of the server in this process
    gc.freeze()  # as the server does
    measured: dict[str, list[list[Figure]]] = {}
    for number in range(rounds):
        for name in (name for name in contestants if name in workload.contestants):
            print(f"{workload.name}: {name}, round {number + 1} of {rounds}", file=sys.stderr, flush=True)
            if workload.measure_beside is not None:
                for other, figures in (await workload.measure_beside(quick)).items():
                    measured.setdefault(other, []).append(list(figures))
                continue
            measured.setdefault(name, []).append(await _measure(workload, name, quick))
    return {name: median(each) for name, each in measured.items()}


async def _measure(workload: Workload, name: str, quick: bool) -> list[Figure]:
    if workload.measure is None:
        assert workload.measure_alone is not None
        return await workload.measure_alone(quick)
    async with rig(name, quick, sandboxes=workload.sandboxes, agents=workload.agents) as prepared:
        return await workload.measure(prepared)


async def main(options: argparse.Namespace) -> None:
    if options.names == ["plot"]:
        from bench.plot import plot  # needs Matplotlib, which takes a second

        print(*plot(), sep="\n")
        return
    chosen = [workload for workload in ALL if not options.names or workload.name.lower() in options.names]
    pin_client()
    rows = []
    for workload in chosen:
        rows.append((workload.name, await run(workload, options.only, options.quick, options.rounds)))
        print_table(rows[-1:])
    if len(rows) > 1:
        print(f"\nPython {platform.python_version()}, {len(CORES)} cores")
        print_table(rows)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Compare Outlast with raw and naive servers.")
    known = [*(workload.name for workload in ALL), "plot"]
    parser.add_argument("names", nargs="*", type=str.lower, help=", ".join(known))
    parser.add_argument("--quick", action="store_true", help="shorter, rougher")
    parser.add_argument("--rounds", type=int, default=1, help="number of rounds; prints medians")
    parser.add_argument("--only", choices=CONTESTANTS, nargs="+", default=list(CONTESTANTS), help="contestants to run")
    options = parser.parse_args()
    unknown = set(options.names) - {name.lower() for name in known}
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    return options


if __name__ == "__main__":
    uvloop.install()
    anyio.run(main, _options(), backend_options={"use_uvloop": True})
