"""The demo model's recorded answers: which words call for which script, and what each script says and does next."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from outlast.kernel.models.protocol import ToolResultPiece
from outlast_demo.answers import answer_said, quoted
from outlast_demo.lines import Line, Say, Think, Use
from outlast_demo.texts import ESSAY, INTRODUCTION, PROGRAMS, Program


@dataclass(frozen=True, slots=True)
class Scene:
    """What was asked last, the tool results since, in order, the tools on offer, and what checks have found since."""

    asked: str
    results: tuple[ToolResultPiece, ...]
    tools: frozenset[str]
    found: tuple[str, ...] = ()


Script = Callable[[Scene], Sequence[Line]]

_QUESTIONS: Final = [
    {"id": "name", "question": "What shall I call you?"},
    {
        "id": "topic",
        "question": "What should the next demo show?",
        "options": ["Code that runs", "A long command", "An approval"],
    },
]
_COUNT_COMMAND: Final = 'for i in $(seq 1 20); do echo "line $i of 20"; sleep 1; done'
_DELETE_COMMAND: Final = "rm -rf build"
# A function of its own: the session keeps its variables, and the demo may be played twice in it
_TYPESCRIPT: Final = """((): number => {
  const squares: number[] = Array.from({ length: 8 }, (_, i) => (i + 1) ** 2);
  console.log("squares:", squares.join(", "));
  return squares.reduce((sum, value) => sum + value, 0);
})();
"""


def introduce(scene: Scene) -> Sequence[Line]:
    """Who is speaking, and what to try."""
    return [Say(INTRODUCTION)]


def write_code(scene: Scene) -> Sequence[Line]:
    """Writes a Python file, runs it, evaluates TypeScript, and quotes what really came out."""
    program = _program(scene.asked)
    plan = [
        Use("create_or_update_files", {"files": [{"path": program.path, "content": program.source}]}),
        Use("terminal", {"command": f"python3 {program.path}"}),
        Use("run_code", {"language": "typescript", "code": _TYPESCRIPT}),
    ]
    said = [
        f"I will write `{program.path}` first.\n\n",
        "The file is written. Now I run it in the sandbox.\n\n",
        "And a few lines of TypeScript, evaluated in the same workspace.\n\n",
    ]
    missing = _missing(scene, plan)
    if missing:
        return [Say(missing)]
    done = len(scene.results)
    if done < len(plan) and not _failed(scene):
        thought = [Think(program.thought)] if done == 0 else []
        return [*thought, Say(said[done]), plan[done]]
    return [Say(_code_report(scene, program))]


def run_long(scene: Scene) -> Sequence[Line]:
    """A command of about twenty seconds: time to close the tab, or to kill the server."""
    plan = [Use("terminal", {"command": _COUNT_COMMAND})]
    if missing := _missing(scene, plan):
        return [Say(missing)]
    if not scene.results:
        return [
            Think("A slow command makes it easy to see that a run goes on by itself."),
            Say(
                "This command prints a line a second for twenty seconds. Close this tab, or stop the server and start "
                "it again: the command goes on and its output is collected.\n\n"
            ),
            plan[0],
        ]
    result = scene.results[-1]
    lines = len(re.findall(r"line \d+ of 20", result.content))
    if result.is_error:
        return [Say(f"The command did not end well. This is what came back:\n\n{quoted(result.content)}\n")]
    return [
        Say(
            f"Finished: I count **{lines}** lines in the output. Its end:\n\n{quoted(result.content, last_lines=4)}\n\n"
            "Nothing of it came from this page: it was read from the run's log.\n"
        )
    ]


def ask_approval(scene: Scene) -> Sequence[Line]:
    """A command that the default policy does not let pass without a person."""
    plan = [Use("terminal", {"command": _DELETE_COMMAND})]
    if missing := _missing(scene, plan):
        return [Say(missing)]
    if not scene.results:
        return [
            Think("Deleting a folder is the sort of thing a person should agree to first."),
            Say("I would like to remove the `build` folder. You decide: approve, deny, or change the command.\n\n"),
            plan[0],
        ]
    result = scene.results[-1]
    if result.is_error:
        return [Say(f"I did not remove anything. The answer to my request was:\n\n{quoted(result.content)}\n")]
    return [Say(f"Done. The terminal answered:\n\n{quoted(result.content)}\n")]


def ask_question(scene: Scene) -> Sequence[Line]:
    """A structured question to the person, and an answer that uses what they said."""
    plan = [Use("ask_user", {"questions": _QUESTIONS})]
    if missing := _missing(scene, plan):
        return [Say(missing)]
    if not scene.results:
        return [Say("Two short questions first. Take your time: the waiting costs nothing.\n\n"), plan[0]]
    result = scene.results[-1]
    if result.is_error:
        return [Say(f"No answer reached me:\n\n{quoted(result.content)}\n")]
    name, topic = answer_said(result.content, "name"), answer_said(result.content, "topic")
    if not name and not topic:
        return [Say(f"Thank you. You answered:\n\n{quoted(result.content)}\n")]
    greeting = f"Thank you, **{name}**." if name else "Thank you."
    return [Say(f"{greeting} {_next_try(topic)}\n")]


def tell(scene: Scene) -> Sequence[Line]:
    """A long text, to watch streaming, Markdown and reconnecting."""
    return [Think("A few words on why work should not depend on the one who watches it."), Say(ESSAY)]


_INTENTS: Final[tuple[tuple[str, Script], ...]] = (
    (r"fibonacci|primes?", write_code),
    (r"approv\w*|delet\w*|clean\w*|remov\w*", ask_approval),
    (r"long|slow\w*|count\w*", run_long),
    (r"essay|story|stories|explain\w*", tell),
    (r"ask|asks|questions?|names?", ask_question),
    (r"code|run|runs|program\w*|script|python|typescript|write", write_code),
)


def choose_script(scene: Scene) -> Script:
    """The first script one of whose words was said; the introduction when none was."""
    for words, script in _INTENTS:
        if re.search(rf"\b(?:{words})\b", scene.asked, re.IGNORECASE):
            return script
    return introduce


def _program(asked: str) -> Program:
    return PROGRAMS["primes" if re.search(r"\bprimes?\b", asked, re.IGNORECASE) else "fibonacci"]


def _missing(scene: Scene, plan: Sequence[Use]) -> str:
    names = sorted({use.tool for use in plan} - scene.tools)
    if not names or scene.results:
        return ""
    listed = ", ".join(f"`{name}`" for name in names)
    return (
        f"This recorded answer would call {listed}, which this server does not offer in this conversation, so there is "
        "nothing real to show. `outlast doctor` says what this machine can do. Ask for an *essay* to see streaming.\n"
    )


def _failed(scene: Scene) -> bool:
    return any(result.is_error for result in scene.results)


def _code_report(scene: Scene, program: Program) -> str:
    if _failed(scene):
        failed = next(result for result in scene.results if result.is_error)
        return f"I stopped, because `{failed.name}` did not succeed. It said:\n\n{quoted(failed.content)}\n"
    by_tool = {result.name: result.content for result in scene.results}
    return (
        f"### `{program.path}` works\n\nThe terminal printed:\n\n{quoted(by_tool.get('terminal', ''))}\n\n"
        f"TypeScript gave:\n\n{quoted(by_tool.get('run_code', ''))}\n\n"
        "The words around these blocks are recorded; **the outputs are not**, they were just computed in your sandbox. "
        f"`{program.path}` is still in the workspace.\n"
    )


def _next_try(topic: str) -> str:
    by_topic = {
        "code": "Say *write a fibonacci program* and I will write it and run it.",
        "long": "Say *run a long command* and close the tab while it runs.",
        "approval": "Say *clean up* and I will ask before I delete.",
    }
    for word, advice in by_topic.items():
        if word in topic.lower():
            return f"You chose “{topic}”. {advice}"
    return (
        f"You would like to see “{topic}”. My answers are recorded, but I noted it." if topic else "Nice to meet you."
    )
