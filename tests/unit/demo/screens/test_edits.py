"""Changes to pages as they were read."""

import pytest

from outlast_demo.screens.edits import add_section, tint
from outlast_demo.screens.sources import PAGE, SCREENS, files_of

HAND_EDITED = """import { Board } from "@/components/board";
import {
  Card,
  CardTitle,
} from "@/components/ui/card";

export default function Page() {
  return (
    <main className="bg-background p-[13px]">
      <Board />
    </main>
  );
}
"""


def test_a_section_comes_last_in_main_with_its_import_after_the_others() -> None:
    page = add_section(HAND_EDITED, "Faq", "components/faq")
    assert page is not None
    assert '} from "@/components/ui/card";\nimport { Faq } from "@/components/faq";\n' in page
    assert "      <Board />\n      <Faq />\n    </main>" in page
    assert page.replace('import { Faq } from "@/components/faq";\n', "").replace("      <Faq />\n", "") == HAND_EDITED


def test_a_section_stands_before_the_footer_where_there_is_one() -> None:
    page = add_section(files_of("landing")[PAGE], "Faq", "components/faq")
    assert page is not None
    assert "      <Faq />\n      <SiteFooter />" in page


def test_a_tint_keeps_what_was_edited_by_hand() -> None:
    page = tint(HAND_EDITED, "chart-3")
    assert page is not None
    assert "p-[13px]" in page
    assert "[--primary:var(--chart-3)]" in page
    assert " bg-background" not in page


def test_another_tint_takes_the_place_of_the_first() -> None:
    once = tint(HAND_EDITED, "chart-2")
    assert once is not None
    assert tint(tint(HAND_EDITED, "chart-3") or "", "chart-2") == once


@pytest.mark.parametrize("screen", sorted(SCREENS))
def test_every_recorded_page_takes_a_section_and_a_tint(screen: str) -> None:
    page = files_of(screen)[PAGE]
    assert add_section(page, "Faq", "components/faq") is not None
    assert tint(page, "chart-3") is not None


def test_a_page_laid_out_otherwise_is_left_alone() -> None:
    assert add_section("export default () => null;\n", "Faq", "components/faq") is None
    assert tint("export default () => null;\n", "chart-3") is None
