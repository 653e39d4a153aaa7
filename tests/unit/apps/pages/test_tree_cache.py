"""Trees in memory: lent once, used only for the HTML that they are of, few enough."""

from outlast.apps.pages.tree import Tree
from outlast.apps.pages.tree_cache import MAX_TREES, LiveTrees


def test_a_tree_is_lent_to_one_at_a_time() -> None:
    trees, tree = LiveTrees(), Tree("<p>a</p>")
    trees.give_back("pag_1", "<p>a</p>", tree)
    assert trees.borrow("pag_1", "<p>a</p>") is tree
    assert trees.borrow("pag_1", "<p>a</p>") is None


def test_a_tree_of_other_html_is_not_lent_and_forgotten() -> None:
    trees = LiveTrees()
    trees.give_back("pag_1", "<p>a</p>", Tree("<p>a</p>"))
    assert trees.borrow("pag_1", "<p>b</p>") is None
    assert trees.borrow("pag_1", "<p>a</p>") is None


def test_only_those_used_last_are_kept() -> None:
    trees = LiveTrees()
    for number in range(MAX_TREES + 5):
        trees.give_back(f"pag_{number}", "<p>a</p>", Tree("<p>a</p>"))
    assert len(trees) == MAX_TREES
    assert trees.borrow("pag_4", "<p>a</p>") is None
    assert trees.borrow("pag_5", "<p>a</p>") is not None


def test_no_more_html_than_fits_is_stood_for() -> None:
    trees, large = LiveTrees(), "x" * 10_000_000
    for number in range(5):
        trees.give_back(f"pag_{number}", large, Tree())
    assert len(trees) == 3


def test_a_page_at_rest_frees_its_tree() -> None:
    trees = LiveTrees()
    trees.give_back("pag_1", "<p>a</p>", Tree("<p>a</p>"))
    trees.forget("pag_1")
    trees.forget("pag_1")
    assert len(trees) == 0
