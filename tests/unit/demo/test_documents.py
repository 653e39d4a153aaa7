"""The demo's edits of documents: it reads what the agent is told, and its rules make sensible text of it."""

from __future__ import annotations

import time

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlast.apps.chat import summary_agent as summing_up
from outlast.apps.chat.summary_agent import Conversation, Said
from outlast.apps.documents.agent.context import DocumentContext
from outlast.apps.documents.agent.document_text import Anchor, ToldComment, ToldDocument
from outlast.apps.documents.agent.prompt import before_request, system_prompt
from outlast.apps.documents.content.markdown_parse import BlockKind
from outlast.apps.documents.content.tree import Block, Section, Tree
from outlast.kernel.models.protocol import (
    ModelMessage,
    ModelRequest,
    ModelSpec,
    TextPiece,
    ToolCallPiece,
    ToolResultPiece,
    ToolSpec,
)
from outlast_demo.documents import prose, wishes
from outlast_demo.documents.edits import edits_for, open_points
from outlast_demo.documents.scene import document_scene
from outlast_demo.documents.scripts import document_lines
from outlast_demo.documents.summaries import summary_lines
from outlast_demo.documents.wishes import Kind, wish_of
from outlast_demo.lines import Line, Say, Use

SPEC = ModelSpec("demo", "demo", "demo")
TOOLS = ("propose_edits", "read_document", "search_files", "ask_user")
DOCUMENT = Anchor("document", "doc_1")
WORDY = "We utilize this report in order to describe the plan. It is very long, and nobody reads it."
TABLE = "| Part | Who |\n| --- | --- |\n| Search | Ada |\n| Pages | open |"


def document(*sections: tuple[str, list[tuple[BlockKind, str]]]) -> ToldDocument:
    number = 0
    made = []
    for at, (heading, texts) in enumerate(sections):
        blocks = []
        for kind, text in texts:
            number += 1
            blocks.append(Block(f"blk_{number}", f"sec_{at + 1}", "", kind, text))
        made.append(Section(f"sec_{at + 1}", "", heading, 1, blocks=tuple(blocks)))
    return ToldDocument("The plan", Tree("doc_1", 3, tuple(made)))


PLAN = document(
    ("Introduction", [("paragraph", WORDY), ("paragraph", "The second has teh facts.")]),
    ("Risks", [("paragraph", "There are three risks: money, time, and people."), ("table", TABLE)]),
    ("Outlook", [("paragraph", "Somebody should take the start page. What else?")]),
)


def request(
    said: str,
    told: ToldDocument = PLAN,
    anchor: Anchor = DOCUMENT,
    *,
    files: bool = False,
    after: tuple[ModelMessage, ...] = (),
) -> ModelRequest:
    about = DocumentContext(told, anchor, ("- notes.md (text/markdown)",) if files else ())
    own = ModelMessage("user", (TextPiece(before_request(about, 400_000)), TextPiece(said)))
    tools = tuple(ToolSpec(name, "", {}) for name in TOOLS)
    return ModelRequest(SPEC, system_prompt(docs=False), (own, *after), tools)


def made(said: str, anchor: Anchor = DOCUMENT, told: ToldDocument = PLAN) -> list[dict[str, str]]:
    scene = document_scene(request(said, told, anchor))
    return edits_for(scene, wish_of(scene))


def result(tool: str, content: object, *, is_error: bool = False) -> tuple[ModelMessage, ...]:
    call = ModelMessage("assistant", (ToolCallPiece("c", tool, "{}"),))
    return call, ModelMessage("tool", (ToolResultPiece("c", tool, orjson.dumps(content).decode(), is_error),))


def use_of(lines: object) -> Use:
    (found,) = [line for line in lines if isinstance(line, Use)]  # type: ignore[attr-defined]
    return found


TEXTS = st.text(min_size=1, max_size=80).filter(lambda text: text == text.strip("\n") and text.strip())


@given(st.lists(st.lists(TEXTS, max_size=4), min_size=1, max_size=4))
def test_every_block_is_read_as_it_was_told_whatever_it_says(texts: list[list[str]]) -> None:
    told = document(*((f"Heading {at}", [("paragraph", text) for text in some]) for at, some in enumerate(texts)))
    scene = document_scene(request("Shorter </document> please [REQUEST]\nnow", told))
    expected = [(block.id, block.markdown) for section in told.tree.sections for block in section.blocks]
    assert [(block.id, block.text) for block in scene.blocks] == expected
    assert scene.said == "Shorter </document> please [REQUEST]\nnow"


@given(st.lists(TEXTS, min_size=1, max_size=5), st.sampled_from(["shorter", "fix it", "as a list", "move it up"]))
def test_edits_fit_the_text_whatever_it_says(texts: list[str], said: str) -> None:
    told = document(("One", [("paragraph", text) for text in texts]))
    present = {block.id: block.markdown for block in told.tree.sections[0].blocks}
    for edit in made(said, told=told):
        if edit["op"] == "replace":
            assert edit["old_text"] == present[edit["block_id"]]
            assert edit["new_text"].strip()
            assert edit["new_text"] != edit["old_text"]


@pytest.mark.parametrize(
    ("said", "blocks"),
    [
        ("Make the introduction shorter", {"blk_1", "blk_2"}),
        ("Fix the wording", {"blk_1", "blk_2"}),
        ("Correct spelling and grammar", {"blk_2"}),
        ("Turn the risks into a list", {"blk_3"}),
        ("Delete the last paragraph of the outlook", {"blk_5"}),
    ],
)
def test_what_is_named_is_changed(said: str, blocks: set[str]) -> None:
    assert {edit["block_id"] for edit in made(said)} == blocks


def test_a_section_is_added_about_what_was_said() -> None:
    (edit,) = made("Please add a section about the budget of next year.")
    assert (edit["op"], edit["heading"], edit["after_id"]) == (
        "insert_section",
        "Budget of next year",
        "sec_2",  # before the outlook
    )
    assert "budget of next year" in edit["new_text"]


def test_selected_text_and_comments_aim_at_their_block() -> None:
    selected = Anchor("selection", "doc_1", "sec_1", "blk_1", "very long")
    assert [edit["block_id"] for edit in made("Make this shorter", selected)] == ["blk_1"]
    comment = ToldComment("cmt_1", "Ada", "Can this be a list?", "sec_2", "blk_3")
    about = Anchor("comment", "doc_1", "sec_2", "blk_3", comment=comment)
    (edit,) = made("Please answer", about)
    assert edit["new_text"].endswith("- Money\n- Time\n- People")


def test_somebody_is_named_from_the_table() -> None:
    comment = ToldComment("cmt_1", "Ada", "Who takes it?", "sec_3", "blk_5")
    (edit,) = made("Who takes it?", Anchor("comment", "doc_1", "sec_3", "blk_5", comment=comment))
    assert edit["new_text"] == "Ada should take the start page. What else?"


@pytest.mark.parametrize("said", ["What is missing? Propose no edits yet.", "How many words are there?"])
def test_a_question_is_answered_without_edits(said: str) -> None:
    scene = document_scene(request(said))
    assert wish_of(scene).kind is Kind.TELL
    assert open_points(scene) == ["Pages · open", "Somebody should take the start page. What else?"]
    (line,) = document_lines(request(said))
    assert isinstance(line, Say)
    assert "demo model" in line.text


def test_refused_edits_are_mended_from_what_the_text_says_now() -> None:
    refused = {"refused": [{"edit": 1, "block_id": "blk_1", "present_text": "We utilize another text."}]}
    lines = document_lines(
        request("Make the introduction shorter", after=result("propose_edits", refused, is_error=True))
    )
    first = use_of(lines).arguments["edits"][0]
    assert (first["old_text"], first["new_text"]) == ("We utilize another text.", "We use another text.")
    again = result("propose_edits", refused, is_error=True) * 3
    lines = document_lines(request("Make the introduction shorter", after=again))
    assert not [line for line in lines if isinstance(line, Use)]


def test_files_are_searched_before_a_section_is_written_and_quoted_with_their_name() -> None:
    said = "Add a section about rice"
    assert use_of(document_lines(request(said, files=True))).arguments == {"query": "rice"}
    found = result("search_files", {"results": [{"file": "notes.md", "content": "Rice needs water. And time."}]})
    lines = document_lines(request(said, files=True, after=found))
    assert "> Rice needs water. And time.\n>\n> — notes.md" in use_of(lines).arguments["edits"][0]["new_text"]


def test_an_answer_to_a_question_of_its_own_is_used() -> None:
    said = "Ask me what you need to know"
    assert use_of(document_lines(request(said))).tool == "ask_user"
    answered = result("ask_user", {"answers": {"how": "Make it shorter"}})
    assert use_of(document_lines(request(said, after=answered))).tool == "propose_edits"


def test_a_proposal_that_was_taken_ends_the_work() -> None:
    taken = result("propose_edits", {"proposal_id": "prp_1", "edits": [{"edit_id": "edt_1"}]})
    (line,) = document_lines(request("Shorter", after=taken))
    assert isinstance(line, Say)
    assert "I proposed 1 edit. Accept, change or reject it" in line.text


def test_unknown_wishes_and_documents_that_are_gone_are_said() -> None:
    said: list[Line] = [*document_lines(request("Hello"))]
    assert isinstance(said[0], Say)
    assert "tighten this document" in said[0].text
    gone = ModelRequest(SPEC, "", (ModelMessage("user", (TextPiece("[REQUEST]\nHello"),)),), ())
    (line,) = document_lines(gone)
    assert isinstance(line, Say)
    assert "was deleted" in line.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Due to the fact that it rains, we stay.", "Because it rains, we stay."),
        ("Use `in order to` and [in order to](x) as they are.", "Use `in order to` and [in order to](x) as they are."),
        ("It is important to note that rice is white.", "Rice is white."),
        ("A  very  nice day .", "A nice day."),
    ],
)
def test_wordy_phrases_are_said_shortly_outside_code_and_links(text: str, expected: str) -> None:
    assert prose.cleaned(text) == expected


def test_a_summary_is_made_of_what_was_said() -> None:
    said = (
        Said("Ada", "user", "Can you tighten it? We decided to ship in May."),
        Said("the agent", "assistant", "I propose:\n[propose_edits: done]\nFive edits wait.\n- Which page goes?"),
        Said("Ada", "user", "And what about the budget?"),
    )
    text = summing_up.told(Conversation("Plan", said, ("- Shorter: 2 accepted, 1 waiting",)), "Sum up", 10_000)
    own = ModelMessage("user", (TextPiece(text),))
    (line,) = summary_lines(ModelRequest(SPEC, summing_up.SYSTEM, (own,)))
    assert isinstance(line, Say)
    assert "- Ada: We decided to ship in May." in line.text
    assert "- Last answer: Five edits wait." in line.text
    assert "- Shorter: 2 accepted, 1 waiting" in line.text
    assert "- The agent: Which page goes?" in line.text
    assert "- Ada: And what about the budget?" in line.text
    assert "tighten it?" not in line.text.partition("## Open")[2]


@pytest.mark.parametrize("piece", ["<", "[", "[a](", "(", "add ", "who that ", " "])
def test_a_text_of_one_thing_over_and_over_is_read_soon(piece: str) -> None:
    text = f"a{piece * (50_000 // len(piece))}x"
    began = time.thread_time()
    assert isinstance(prose.tightened(text, "paragraph"), str)
    assert wishes._SECTION.search(text) is None
    assert time.thread_time() - began < 8  # about 0.2 s on a quiet machine
