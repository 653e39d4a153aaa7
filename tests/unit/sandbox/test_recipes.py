"""What a snapshot is called."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from outlast_sandbox.recipes import recipe_of


@given(st.permutations(["npm:zod@3", "npm:@linear/sdk@98", "pypi:requests==2"]))
def test_the_order_of_packages_does_not_change_the_name(packages: list[str]) -> None:
    recipe = recipe_of(packages, (), {}, "base")
    assert recipe is not None
    assert recipe.name == "snap-" + recipe.name[5:]
    assert recipe == recipe_of(["npm:@linear/sdk@98", "npm:zod@3", "pypi:requests==2"], (), {}, "base")


def test_everything_that_goes_into_a_snapshot_changes_its_name() -> None:
    recipes = [
        recipe_of(["npm:zod@3"], (), {}, "base"),
        recipe_of(["npm:zod@4"], (), {}, "base"),
        recipe_of(["npm:zod@3"], ("true",), {}, "base"),
        recipe_of(["npm:zod@3"], ("true", "false"), {}, "base"),
        recipe_of(["npm:zod@3"], ("false", "true"), {}, "base"),
        recipe_of(["npm:zod@3"], (), {"a": b"1"}, "base"),
        recipe_of(["npm:zod@3"], (), {"a": b"2"}, "base"),
        recipe_of(["npm:zod@3"], (), {"b": b"1"}, "base"),
        recipe_of(["npm:zod@3"], (), {}, "another base"),
    ]
    assert len({recipe.name for recipe in recipes if recipe is not None}) == len(recipes)


def test_with_nothing_to_install_there_is_no_snapshot() -> None:
    assert recipe_of([], (), {}, "base") is None
