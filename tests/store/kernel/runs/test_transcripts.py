"""The journal as a transaction of the writer reads it, and as a model does."""

import time

from outlast.db.database import Database, Tx
from outlast.kernel.runs import store
from outlast.kernel.runs.stage_plan import FINAL_ANSWER
from tests.factories import make_project, make_run, make_thread, make_user

LONG = {"content": "a line of output\n" * 3_500, "is_error": False}
TURN = {"pieces": [{"type": "text", "text": "Done."}], "finish": "stop", "opaque": None}
ANSWER = {"content": "Not an object.", "is_error": True}


async def test_long_results_of_calls_are_read_for_the_model_alone(db: Database) -> None:
    def make(tx: Tx) -> str:
        owner = make_user(tx)
        run_id = make_run(tx, make_thread(tx, make_project(tx, owner), owner), owner)
        for ordinal in range(200):
            store.insert_effect(tx, run_id, ordinal, 1, "tool", status="finished", tool="terminal", result=LONG)
        store.insert_effect(tx, run_id, 200, 1, "tool", status="finished", tool=FINAL_ANSWER, result=ANSWER)
        store.insert_effect(tx, run_id, 201, 2, "model", status="finished", result=TURN)
        return run_id

    def brief(tx: Tx) -> tuple[list[object], float]:
        began = time.perf_counter()
        results: list[object] = [one.result for one in store.transcript_of(tx, run_id, frozenset()).effects]
        return results, time.perf_counter() - began

    run_id = await db.write(make)
    results, took_s = await db.read(brief)
    assert results == [None] * 200 + [ANSWER, TURN]
    print(f"{took_s * 1e3:.1f} ms")  # 60 to 90 ms with the results
    whole = await db.read(store.whole_effects, run_id)
    assert [one.result for one in whole] == [LONG] * 200 + [ANSWER, TURN]
