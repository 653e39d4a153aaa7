"""The demo model's next turn as a document's agent."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from outlast.kernel.models.protocol import ModelRequest, ToolResultPiece
from outlast_demo.answers import answer_said
from outlast_demo.documents.edits import edits_for, open_points, summary_of
from outlast_demo.documents.scene import ASK, PROPOSE, SEARCH, DocumentScene, document_scene, parsed
from outlast_demo.documents.wishes import Kind, Wish, wish_of
from outlast_demo.lines import Line, Say, Think, Use

PIECE_CHARS: Final = 48  # of the arguments in one delta
TRIES: Final = 3
DEMO: Final = "*I am the demo model. These edits come from simple recorded rules, applied to the real text.*"
TRY: Final = (
    "I am the demo model: I know a few recorded ways to edit, and apply them to the real text of this document. Try "
    "*tighten this document*, *make the introduction shorter*, *fix the wording*, *turn this into a list*, *add a "
    "section about risks*, *move the last paragraph to the top*, or assign a comment to me. Nothing changes until you "
    "accept an edit."
)
_QUESTIONS: Final = [
    {
        "id": "how",
        "question": "How should I edit the text?",
        "options": ["Make it shorter", "Fix the wording", "Turn the longest paragraph into a list"],
    }
]


def document_lines(request: ModelRequest) -> Sequence[Line]:
    """The next turn. Deterministic; never raises."""
    scene = document_scene(request)
    if not scene.document:
        return [Say("The document of this conversation was deleted, so I cannot propose edits.\n")]
    proposed = scene.of(PROPOSE)
    if proposed and not proposed[-1].is_error:
        return [Say(_done(scene, proposed[-1]))]
    asked = scene.of(ASK)
    wish = wish_of(scene)
    if wish.kind is Kind.ASK and not asked and ASK in scene.tools:
        return [Say("One question first.\n\n"), Use(ASK, {"questions": _QUESTIONS})]
    if asked:
        said = answer_said(asked[-1].content, "how")
        scene = replace(scene, said=said or "make it shorter")
        wish = wish_of(scene)
    if wish.kind is Kind.SECTION and wish.topic and scene.files and SEARCH in scene.tools and not scene.of(SEARCH):
        return [Say("First, I'll search the project's files.\n\n"), Use(SEARCH, {"query": wish.topic})]
    return _propose(scene, wish, proposed)


def _propose(scene: DocumentScene, wish: Wish, refused: Sequence[ToolResultPiece]) -> Sequence[Line]:
    if wish.kind is Kind.TELL:
        return [Say(_figures(scene))]
    if wish.kind is Kind.UNKNOWN:
        return [Say(TRY)]
    if len(refused) >= TRIES:
        return [Say(f"The text changed {TRIES} times while I was proposing edits. Try again when it is stable.\n")]
    current = {
        str(one["block_id"]): str(one["present_text"])
        for result in refused
        for one in parsed(result.content).get("refused", ())
        if one.get("block_id") and one.get("present_text") is not None
    }
    edits = edits_for(scene.with_texts(current), wish)
    if not edits:
        return [Say(f"My recorded rules find nothing to change there.\n\n{TRY}\n")]
    thought = f"{len(scene.blocks)} blocks in {len(scene.sections)} sections; {len(edits)} of them to change."
    lead = (
        "The text has changed, so here are new edits for the current version.\n\n"
        if refused
        else "Here are my edits:\n\n"
    )
    call = Use(PROPOSE, {"summary": summary_of(wish, edits), "edits": edits}, PIECE_CHARS)
    return [*([] if refused else [Think(thought)]), Say(lead), call]


def _done(scene: DocumentScene, result: ToolResultPiece) -> str:
    made: list[Any] = parsed(result.content).get("edits", [])
    count = _count(len(made), "edit") if made else "the edits"
    each = "it" if len(made) == 1 else "each one"
    answer = "About your comment: " if scene.about == "comment" else ""
    return f"{answer}I proposed {count}. Accept, change or reject {each}. The document has not changed yet.\n\n{DEMO}\n"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _figures(scene: DocumentScene) -> str:
    words = sum(len(block.text.split()) for block in scene.blocks)
    lines = [
        f"- **{section.heading or 'Before the first heading'}**: {_count(len(section.blocks), 'block')}, "
        f"{sum(len(block.text.split()) for block in section.blocks)} words"
        for section in scene.sections
    ]
    listed = "\n".join(lines) or "- nothing yet"
    points = "\n".join(f"- {point}" for point in open_points(scene))
    still_open = f"Open points in the text:\n\n{points}\n\n" if points else ""
    return f"The part of “{scene.title}” that I received has {words} words:\n\n{listed}\n\n{still_open}{TRY}\n"
