"""A whole other text for a document."""

from __future__ import annotations

from hypothesis import example, given

from outlast.apps.documents.content.markdown_parse import cut
from outlast.apps.documents.content.markdown_render import join
from outlast.apps.documents.edits.replacement import replaced
from tests.markdown_texts import markdown_texts
from tests.unit.apps.documents.edits.test_apply import block, check_order, made_of, text


@given(markdown_texts(20), markdown_texts(20))
def test_the_document_says_the_new_text(old: str, new: str):
    now = replaced(made_of(old), cut(new))
    check_order(now)
    assert text(now) == join((part, part.pieces) for part in cut(new))


@given(markdown_texts(20))
@example("-\n- ```\n<!-- -->\n- ```\n")  # a list that begins with an empty item, and one behind it
def test_the_same_text_changes_nothing(markdown: str):
    tree = made_of(markdown)
    assert replaced(tree, cut(text(tree))) == tree


def test_what_is_the_same_or_nearly_keeps_its_id():
    tree = made_of("# A\n\nThe first paragraph says something.\n\nGone.\n\n# B\n\n- list\n\nlast")
    new = "# A\n\nThe first paragraph says something else.\n\n# New\n\nlast\n\n# B\n\n- list\n\nmore"
    now = replaced(tree, cut(new))
    first = block(tree, "The first paragraph says something.")
    assert block(now, "The first paragraph says something else.").id == first.id
    assert block(now, "- list").id == block(tree, "- list").id
    assert [one.id for one in now.sections if one.heading != "New"] == [one.id for one in tree.sections]
    assert block(now, "more").id not in {one.id for one in tree.blocks()}
