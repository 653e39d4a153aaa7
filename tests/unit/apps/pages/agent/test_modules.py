"""The list of saved modules in the prompt."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from outlast.apps.pages.agent.modules import HEADING, MAX_LISTED, PATH_CHARS, module_list
from outlast.kernel.library.modules import Module

BEGAN = datetime(2026, 11, 1, tzinfo=UTC)


def saved(path: str, exports: tuple[str, ...], usage: str, updated_at: datetime = BEGAN) -> Module:
    return Module(
        id="mod_1",
        project_id=None,
        workspace_id="wsp_1",
        page_id=None,
        user_id="usr_1",
        scope="session",
        path=path,
        description="",
        exports=list(exports),
        usage=usage,
        hash="",
        content_hash=None,
        blob=None,
        dependencies=None,
        verified_at=None,
        run_id=None,
        published_by=None,
        created_at=BEGAN,
        updated_at=updated_at,
    )


def module(path: str, *names: str, usage: str | None = None, at: int = 0) -> Module:
    first = names[0].partition("(")[0] if names else "x"
    text = f"import {{ {first} }} from './{path}'" if usage is None else usage
    return saved(path, names, text, BEGAN + timedelta(seconds=at))


modules = st.lists(
    st.builds(
        saved,
        path=st.text("abcdefghijklmnopqrstuvwxyz/-_.", min_size=1, max_size=PATH_CHARS).map(
            lambda path: f"library/{path}"
        ),
        exports=st.lists(st.text(max_size=60), max_size=30).map(tuple),
        usage=st.text(max_size=600),
    ),
    max_size=5,
)


def test_the_list_shows_path_names_and_an_import_of_each() -> None:
    told = module_list(
        [module("lib/slack.ts", "sendMessage(channel, text)"), module("lib/linear.ts", "all(page)", "byId(id)")]
    )
    assert told == (
        "[SANDBOX MODULES]\n"
        "- lib/linear.ts: all(page), byId(id)\n"
        "  usage: import { all } from './lib/linear.ts'\n"
        "- lib/slack.ts: sendMessage(channel, text)\n"
        "  usage: import { sendMessage } from './lib/slack.ts'"
    )


def test_without_modules_there_is_no_section() -> None:
    assert module_list([]) == ""


def test_many_names_are_cut_with_a_mark() -> None:
    told = module_list([module("lib/all.ts", *(f"function_number_{n}" for n in range(40)))])
    assert "…" in told
    assert "usage: import" in told


def test_of_many_modules_the_newest_are_listed_and_the_rest_counted() -> None:
    told = module_list([module(f"lib/m{n:02}.ts", "x", at=n) for n in range(20)])
    assert "lib/m08.ts" in told
    assert "lib/m07.ts" not in told
    assert told.endswith("- and 8 more: search_docs finds them")
    assert told.count("usage:") == MAX_LISTED


@given(modules)
def test_five_modules_take_at_most_about_200_tokens(some: list[Module]) -> None:
    told = module_list(some)
    assert tokens(told) <= 200
    assert told == "" or told.startswith(HEADING)
    for one in some:
        assert f"- {one.imported_path}" in told


@given(modules)
def test_the_order_in_which_modules_come_changes_nothing(some: list[Module]) -> None:
    distinct = list({one.imported_path: one for one in some}.values())
    assert module_list(distinct) == module_list(list(reversed(distinct)))


def tokens(text: str) -> float:
    """More than any usual tokenizer makes of code: a token for every 3.2 bytes."""
    return len(text.encode()) / 3.2
