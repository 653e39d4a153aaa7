"""`run_code`: the last expression is the result, in both languages."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from outlast_sandbox.interface import Evaluation, EvaluationResult, Language
from outlast_sandbox.providers.local.sandbox import LocalSandbox

pytestmark = pytest.mark.sandbox


async def evaluate(box: LocalSandbox, language: Language, *codes: str, timeout_s: float = 30) -> EvaluationResult:
    result = None
    for code in codes:
        evaluate.count += 1  # type: ignore[attr-defined]
        effect = f"eff_{evaluate.count}"  # type: ignore[attr-defined]
        result = await box.evaluate(Evaluation(effect, 1, language, code, timeout_s))
    assert result is not None
    return result


evaluate.count = 0  # type: ignore[attr-defined]

TYPESCRIPT: list[tuple[str, Any, str]] = [
    ("1 + 1", 2, "2"),
    ("const x: number = 3; x * 14", 42, "42"),
    ("interface A { b: string }\nconst a: A = { b: 'c' };\na", {"b": "c"}, '{ b: "c" }'),
    ("enum Colour { Red, Green }\nColour.Green", 1, "1"),
    ("function first<T>(all: T[]): T { return all[0] }\nfirst(['a', 'b'])", "a", '"a"'),
    ("await Promise.resolve(7)", 7, "7"),
    ("(async () => 8)()", 8, "8"),
    ("({ a: 1, b: [1, 2] })", {"a": 1, "b": [1, 2]}, "{ a: 1, b: [ 1, 2 ] }"),
    ("{ a: 1 }", {"a": 1}, "{ a: 1 }"),
    ("'é'", "é", '"é"'),
    ("null", None, "null"),
    ("undefined", None, ""),
    ("const y = 1", None, ""),
    ("10n", "10n", "10n"),
    ("new Map([[1, 2]])", "Map(1) { 1 => 2 }", "Map(1) { 1 => 2 }"),
    ("new Date(0)", "1970-01-01T00:00:00.000Z", "1970-01-01T00:00:00.000Z"),
    ("NaN", "NaN", "NaN"),
    ("let t = 0; for (let i = 0; i < 4; i++) t += i; t", 6, "6"),
    ("if (true) { 'yes' } else { 'no' }", "yes", '"yes"'),
    ("export const z = 4; z", 4, "4"),
    ("import { join } from 'node:path'; join('a', 'b')", "a/b", '"a/b"'),
    ("const o: any = {}; o.self = o; o", "<ref *1> { self: [Circular *1] }", "<ref *1> { self: [Circular *1] }"),
]


@pytest.mark.parametrize(("code", "result", "text"), TYPESCRIPT)
async def test_the_last_expression_in_typescript(box: LocalSandbox, code: str, result: Any, text: str) -> None:
    answer = await evaluate(box, "typescript", code)
    assert answer.error is None
    assert (answer.success, answer.result, answer.result_text) == (True, result, text)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("throw new Error('broken')", "Error: broken"),
        ("throw 5", "Uncaught 5"),
        ("let q = ", "SyntaxError"),
        ("Promise.reject(new Error('late'))", "Error: late"),
        ("import { x } from './missing.ts'; x", "missing.ts"),
        ("import x from 'npm:left-pad'; x", "left-pad"),
        ("notDefined + 1", "notDefined is not defined"),
    ],
)
async def test_what_fails_in_typescript_says_why_and_the_session_goes_on(
    box: LocalSandbox, code: str, words: str
) -> None:
    answer = await evaluate(box, "typescript", code)
    assert not answer.success
    assert answer.result is None
    assert words in str(answer.error)
    assert (await evaluate(box, "typescript", "40 + 2")).result == 42


async def test_typescript_keeps_variables_and_prints_to_stdout(box: LocalSandbox) -> None:
    answer = await evaluate(
        box, "typescript", "const a = 1", "const a = 2; console.log('hi', a); console.error('e'); a"
    )
    assert (answer.result, answer.stdout) == (2, "hi 2\ne\n")


async def test_typescript_reads_and_writes_files_of_the_workspace(box: LocalSandbox) -> None:
    await box.write_files([("lib.ts", b"export const answer: number = 42\n")])
    answer = await evaluate(box, "typescript", "import { answer } from './lib.ts'; answer")
    assert answer.result == 42
    await evaluate(box, "typescript", "await Deno.writeTextFile('out.txt', 'written')")
    assert await box.read_file("out.txt", 100) == b"written"


PYTHON: list[tuple[str, Any, str]] = [
    ("1 + 1", 2, "2"),
    ("x = 3\nx * 14", 42, "42"),
    ("{'a': 1, 'b': [1, 2]}", {"a": 1, "b": [1, 2]}, "{'a': 1, 'b': [1, 2]}"),
    ("(1, 2)", [1, 2], "(1, 2)"),
    ("{1, 2}", "{1, 2}", "{1, 2}"),
    ("None", None, ""),
    ("x = 1", None, ""),
    ("", None, ""),
    ("'é'", "é", "'é'"),
    ("import asyncio\nawait asyncio.sleep(0, 'waited')", "waited", "'waited'"),
    ("async def f(): return 5\nf()", 5, "5"),
    ("for i in range(3):\n    pass\ni", 2, "2"),
    ("def f(n):\n    return n and n + f(n - 1)\nf(4)", 10, "10"),
    ("from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\nP(1)", "P(x=1)", "P(x=1)"),
    ("float('nan')", "nan", "nan"),
    ("__name__", "__main__", "'__main__'"),
]


@pytest.mark.parametrize(("code", "result", "text"), PYTHON)
async def test_the_last_expression_in_python(box: LocalSandbox, code: str, result: Any, text: str) -> None:
    answer = await evaluate(box, "python", code)
    assert answer.error is None
    assert (answer.success, answer.result, answer.result_text) == (True, result, text)


async def test_a_python_error_shows_the_users_lines_only(box: LocalSandbox) -> None:
    answer = await evaluate(box, "python", "def f():\n    return 1 / 0\nf()")
    assert answer.error is not None
    assert "return 1 / 0" in answer.error
    assert answer.error.endswith("ZeroDivisionError: division by zero")
    assert "python_runner" not in answer.error


@pytest.mark.parametrize(
    ("code", "words"),
    [("x = (", "SyntaxError"), ("exit(3)", "exit(3)"), ("raise KeyboardInterrupt", "KeyboardInterrupt"),
     ("import missing_module", "ModuleNotFoundError")],
)  # fmt: skip
async def test_what_fails_in_python_says_why_and_the_session_goes_on(box: LocalSandbox, code: str, words: str) -> None:
    answer = await evaluate(box, "python", "kept = 1", code)
    assert not answer.success
    assert words in str(answer.error)
    assert (await evaluate(box, "python", "kept")).result == 1


async def test_python_imports_files_of_the_workspace(box: LocalSandbox) -> None:
    await box.write_files([("lib.py", b"answer = 42\n")])
    assert (await evaluate(box, "python", "import lib\nlib.answer")).result == 42


@pytest.mark.parametrize(("language", "loop"), [("typescript", "while (true) {}"), ("python", "while True: pass")])
async def test_an_endless_loop_is_ended_said_so_and_the_next_call_starts_anew(
    box: LocalSandbox, language: Language, loop: str
) -> None:
    await evaluate(box, language, "kept = 1" if language == "python" else "var kept = 1")
    answer = await evaluate(box, language, loop, timeout_s=0.5)
    assert not answer.success
    assert "stopped after 0.5 s" in str(answer.error)
    assert "variables are lost" in str(answer.error)
    assert not (await evaluate(box, language, "kept")).success
    assert (await evaluate(box, language, "1 + 1")).result == 2


@pytest.mark.parametrize(("language", "code"), [("typescript", "Deno.exit(4)"), ("python", "import os; os._exit(4)")])
async def test_code_that_ends_its_own_session_is_told_so(box: LocalSandbox, language: Language, code: str) -> None:
    answer = await evaluate(box, language, code)
    assert not answer.success
    assert "exit code 4" in str(answer.error)
    assert (await evaluate(box, language, "1 + 1")).result == 2


async def test_a_killed_evaluation_ends(box: LocalSandbox) -> None:
    import anyio

    printed = anyio.Event()
    async with anyio.create_task_group() as tasks:

        async def kill() -> None:
            await printed.wait()
            await box.kill_command("eff_loop")

        tasks.start_soon(kill)
        loop = Evaluation("eff_loop", 1, "python", "print('begun')\nwhile True: pass")
        answer = await box.evaluate(loop, lambda _text: printed.set())
    assert "cancelled" in str(answer.error)


async def test_sessions_at_rest_are_ended_with_their_variables_and_the_next_call_starts_anew(box: LocalSandbox) -> None:
    await evaluate(box, "typescript", "globalThis.kept = 1")
    await evaluate(box, "python", "kept = 1")
    assert await box.end_sessions() == 2
    assert await box.end_sessions() == 0
    assert (await evaluate(box, "typescript", "globalThis.kept ?? 'gone'")).result == "gone"
    assert "kept" in str((await evaluate(box, "python", "kept")).error)


async def test_a_session_at_work_is_not_ended_by_those_who_tidy_up(box: LocalSandbox) -> None:
    results, begun = [], anyio.Event()
    code = "import time; print('on', flush=True); time.sleep(0.4); 7"

    async def work() -> None:
        at_work = Evaluation("eff_at_work", 1, "python", code)
        results.append(await box.evaluate(at_work, lambda _text: begun.set()))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(work)
        await begun.wait()
        assert await box.end_sessions() == 0
    assert results[0].result == 7
