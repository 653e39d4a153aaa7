"""The line that a version gets whose author wrote none."""

from outlast.apps.documents.history.summaries import accepted


def test_one_accepted_edit_and_several_are_counted_in_english() -> None:
    """One edit was "1 edits of the agent"."""
    assert accepted(1, "Goals") == "Accepted 1 edit by the agent in “Goals”"
    assert accepted(1200, "Goals") == "Accepted 1,200 edits by the agent in “Goals”"
