"""The demo model's recorded answers in chats: the words that select a script, and the next turn of each script."""

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
    """The last user message, the tool results since, in order, the offered tools, and reports of checks since."""

    asked: str
    results: tuple[ToolResultPiece, ...]
    tools: frozenset[str]
    found: tuple[str, ...] = ()


Script = Callable[[Scene], Sequence[Line]]

_QUESTIONS: Final = [
    {"id": "name", "question": "What should I call you?"},
    {
        "id": "topic",
        "question": "What should the next demo show?",
        "options": ["Code that runs", "A long command", "An approval"],
    },
]
_COUNT_COMMAND: Final = 'for i in $(seq 1 20); do echo "line $i of 20"; sleep 1; done'
_DELETE_COMMAND: Final = "rm -rf build"
# In a function scope: the session keeps its variables, and the demo may run twice in it
_TYPESCRIPT: Final = """((): number => {
  const squares: number[] = Array.from({ length: 8 }, (_, i) => (i + 1) ** 2);
  console.log("squares:", squares.join(", "));
  return squares.reduce((sum, value) => sum + value, 0);
})();
"""


def introduce(scene: Scene) -> Sequence[Line]:
    """Introduces the demo model and lists things to try."""
    return [Say(INTRODUCTION)]


def write_code(scene: Scene) -> Sequence[Line]:
    """Writes a Python file, runs it, evaluates TypeScript, and quotes the real output."""
    program = _program(scene.asked)
    plan = [
        Use("create_or_update_files", {"files": [{"path": program.path, "content": program.source}]}),
        Use("terminal", {"command": f"python3 {program.path}"}),
        Use("run_code", {"language": "typescript", "code": _TYPESCRIPT}),
    ]
    texts = [
        f"First I'll write `{program.path}`.\n\n",
        "The file is written. Now I'll run it in the sandbox.\n\n",
        "Next, a few lines of TypeScript, evaluated in the same workspace.\n\n",
    ]
    missing = _missing(scene, plan)
    if missing:
        return [Say(missing)]
    done = len(scene.results)
    if done < len(plan) and not _failed(scene):
        thought = [Think(program.thought)] if done == 0 else []
        return [*thought, Say(texts[done]), plan[done]]
    return [Say(_code_report(scene, program))]


def run_long(scene: Scene) -> Sequence[Line]:
    """Runs a command for about twenty seconds, so that you can close the tab or kill the server meanwhile."""
    plan = [Use("terminal", {"command": _COUNT_COMMAND})]
    if missing := _missing(scene, plan):
        return [Say(missing)]
    if not scene.results:
        return [
            Think("A slow command shows that a run continues without a browser."),
            Say(
                "This command prints one line a second for twenty seconds. Close this tab, or restart the server: the "
                "command keeps running, and the server collects its output.\n\n"
            ),
            plan[0],
        ]
    result = scene.results[-1]
    lines = len(re.findall(r"line \d+ of 20", result.content))
    if result.is_error:
        return [Say(f"The command failed:\n\n{quoted(result.content)}\n")]
    return [
        Say(
            f"Finished: the output has **{lines}** lines. The last ones:\n\n{quoted(result.content, last_lines=4)}\n\n"
            "They come from the run's log, not from this page.\n"
        )
    ]


def ask_approval(scene: Scene) -> Sequence[Line]:
    """Runs a command that the default policy allows only with a user's approval."""
    plan = [Use("terminal", {"command": _DELETE_COMMAND})]
    if missing := _missing(scene, plan):
        return [Say(missing)]
    if not scene.results:
        return [
            Think("Deleting a folder needs the user's approval."),
            Say("I want to delete the `build` folder. You can approve, deny or change the command.\n\n"),
            plan[0],
        ]
    result = scene.results[-1]
    if result.is_error:
        return [Say(f"I did not delete anything. My request was answered with:\n\n{quoted(result.content)}\n")]
    return [Say(f"Done. The terminal printed:\n\n{quoted(result.content)}\n")]


def ask_question(scene: Scene) -> Sequence[Line]:
    """Asks the user structured questions, and uses the answers."""
    plan = [Use("ask_user", {"questions": _QUESTIONS})]
    if missing := _missing(scene, plan):
        return [Say(missing)]
    if not scene.results:
        return [Say("Two short questions first. Take your time: waiting costs nothing.\n\n"), plan[0]]
    result = scene.results[-1]
    if result.is_error:
        return [Say(f"I received no answer:\n\n{quoted(result.content)}\n")]
    name, topic = answer_said(result.content, "name"), answer_said(result.content, "topic")
    if not name and not topic:
        return [Say(f"Thank you. You answered:\n\n{quoted(result.content)}\n")]
    greeting = f"Thank you, **{name}**." if name else "Thank you."
    return [Say(f"{greeting} {_next_try(topic)}\n")]


def tell(scene: Scene) -> Sequence[Line]:
    """Tells a long story, which shows streaming, Markdown and reconnecting."""
    return [Think("A story about work that does not depend on a single keeper."), Say(ESSAY)]


_INTENTS: Final[tuple[tuple[str, Script], ...]] = (
    (r"fibonacci|primes?", write_code),
    (r"approv\w*|delet\w*|clean\w*|remov\w*", ask_approval),
    (r"long|slow\w*|count\w*", run_long),
    (r"essay|story|stories|explain\w*", tell),
    (r"ask|asks|questions?|names?", ask_question),
    (r"code|run|runs|program\w*|script|python|typescript|write", write_code),
)


def choose_script(scene: Scene) -> Script:
    """The first script that has a word of the message; the introduction if there is none."""
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
    message, _, data = scene.asked.partition("\n\n```json\n")
    if data:  # the context of `ctx.run`
        given = quoted(data.removesuffix("```"))
        return f"I am the **demo model**, so I only repeat what I was given for “{message}”:\n\n{given}\n"
    listed = ", ".join(f"`{name}`" for name in names)
    return (
        f"I am the demo model, and my recorded answer calls {listed}, which I have not got here: the agent does "
        "not have it, or the server has no sandbox, and `outlast doctor` says why. A real model answers as the agent's "
        "instructions say. Ask me for an *essay* to see streaming.\n"
    )


def _failed(scene: Scene) -> bool:
    return any(result.is_error for result in scene.results)


def _code_report(scene: Scene, program: Program) -> str:
    if _failed(scene):
        failed = next(result for result in scene.results if result.is_error)
        return f"I stopped because `{failed.name}` failed:\n\n{quoted(failed.content)}\n"
    by_tool = {result.name: result.content for result in scene.results}
    return (
        f"### `{program.path}` works\n\nThe terminal printed:\n\n{quoted(by_tool.get('terminal', ''))}\n\n"
        f"TypeScript returned:\n\n{quoted(by_tool.get('run_code', ''))}\n\n"
        "The words around these blocks are recorded; **the outputs are real**, just computed in your sandbox. "
        f"`{program.path}` is still in the workspace.\n"
    )


def _next_try(topic: str) -> str:
    by_topic = {
        "code": "Say *write a fibonacci program*, and I'll write it and run it.",
        "long": "Say *run a long command*, and close the tab while it runs.",
        "approval": "Say *clean up*, and I'll ask before I delete anything.",
    }
    for word, advice in by_topic.items():
        if word in topic.lower():
            return f"You chose “{topic}”. {advice}"
    return f"You chose “{topic}”. I have no recording for it yet." if topic else "Nice to meet you."
