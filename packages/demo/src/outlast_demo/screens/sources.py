"""The recorded screens: their files as they are written into a project, and what is said of them."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

FOLDER: Final = Path(__file__).parent / "sources"
PAGE: Final = "app/page.tsx"


@dataclass(frozen=True, slots=True)
class Recorded:
    """A screen or a change: its words for the person, and one line on each of its files."""

    title: str
    thought: str
    opening: str
    summary: str
    files: Mapping[str, str]


SCREENS: Final[Mapping[str, Recorded]] = MappingProxyType(
    {
        "landing": Recorded(
            "Driftwood landing page",
            "A landing page has one job: say what this is and give a reason to stay. A large claim, a picture of the "
            "product made of real parts, proof, and one action that comes back at the end. ",
            "I will build it in parts: the header with its menu for phones, the claim with a preview of the product, "
            "the features, and the end of the page.\n\n",
            "### What I built\nA landing page for *Driftwood*, a planning tool for small teams.\n\n"
            "### Key features\n- A claim with a live-looking preview of the product below it\n"
            "- A grid of features, two of them drawn instead of told\n- A menu in a drawer on phones\n\n"
            "### Design highlights\n- Light falls from above in the theme's own colour\n"
            "- One action, at the beginning and at the end\n",
            {
                PAGE: "The page, made of its sections",
                "components/site-header.tsx": "Sticky header, with a drawer on phones",
                "components/hero.tsx": "The claim and the preview of the product",
                "components/feature-grid.tsx": "The features in a grid",
                "components/site-footer.tsx": "Last call and links",
            },
        ),
        "dashboard": Recorded(
            "Shop dashboard",
            "Someone opens a dashboard to see whether they may close it again: four numbers first, then the reason "
            "behind them, then what to act on. ",
            "A sidebar, four key figures with their course, revenue over time beside where it comes from, and the "
            "latest orders.\n\n",
            "### What I built\nThe dashboard of a shop: key figures, revenue, channels and the latest orders.\n\n"
            "### Key features\n- Figures with a small line that shows their course\n"
            "- Revenue by week or year, with the numbers under the pointer\n- Orders with their state at a glance\n\n"
            "### Design highlights\n- Quiet surfaces, colour only where it means something\n"
            "- The sidebar leaves on small screens\n",
            {
                PAGE: "Header and the order of the panels",
                "components/dashboard-sidebar.tsx": "Navigation and the month's goal",
                "components/metric-cards.tsx": "The four key figures",
                "components/revenue-panel.tsx": "Revenue over time, and by channel",
                "components/orders-table.tsx": "The latest orders",
            },
        ),
        "sign_in": Recorded(
            "Sign-in page",
            "Signing in should be over before anybody thinks about it: two fields, errors beside them in plain words, "
            "the password visible on request, and other ways in above. ",
            "Two halves: a calm picture with a voice on the left, the form on the right. On a phone the form is "
            "all there is.\n\n",
            "### What I built\nA sign-in page with a working form.\n\n"
            "### Key features\n- Checks the email and the length of the password, and says what is wrong\n"
            "- Shows and hides the password; waits visibly; ends with a welcome\n- Passkey and company sign-in\n\n"
            "### Design highlights\n- Rings and soft light drawn in code, no picture to load\n"
            "- Errors are tied to their fields for screen readers\n",
            {
                PAGE: "The two halves of the page",
                "components/sign-in-form.tsx": "The form: checks, waiting, welcome",
            },
        ),
        "pricing": Recorded(
            "Pricing page",
            "People compare three plans by four things at most. The middle one should stand out without shouting, and "
            "the whole comparison belongs below for those who want to be sure. ",
            "Three plans, the middle one raised, and a table that compares them line by line.\n\n",
            "### What I built\nA pricing page with three plans and a comparison.\n\n"
            "### Key features\n- Starter, Studio and House, each with its action\n"
            "- All plans side by side in a table\n- A promise at the end that takes the risk away\n\n"
            "### Design highlights\n- The chosen plan is raised and glows in the theme's colour\n"
            "- Numbers are set so that they line up\n\n"
            "Say *add a monthly and yearly switch*, and the prices will follow it.\n",
            {
                PAGE: "Headline, plans, comparison, promise",
                "components/pricing-plans.tsx": "The three plans",
                "components/plan-comparison.tsx": "The table that compares them",
            },
        ),
        "pricing_yearly": Recorded(
            "Pricing page",
            "Three plans that are compared by four things at most, and a switch that answers the first question: what "
            "does it cost when I stay. ",
            "Three plans with a switch between monthly and yearly prices, and a table that compares them.\n\n",
            "### What I built\nA pricing page with three plans, monthly or yearly, and a comparison.\n\n"
            "### Key features\n- A switch between monthly and yearly; what is saved stands beside it\n"
            "- All plans side by side in a table\n- A promise at the end that takes the risk away\n\n"
            "### Design highlights\n- The chosen plan is raised and glows in the theme's colour\n"
            "- Numbers are set so that nothing jumps when they change\n",
            {
                PAGE: "Headline, plans, comparison, promise",
                "components/pricing-plans.tsx": "The three plans, with the switch between monthly and yearly",
                "components/plan-comparison.tsx": "The table that compares them",
            },
        ),
        "kanban": Recorded(
            "Launch board",
            "A board must feel like moving paper: cards that can be dragged, columns that show where they would land, "
            "and a way without a mouse. ",
            "Four columns whose cards can be dragged, moved by menu, filtered and added.\n\n",
            "### What I built\nA kanban board for a launch.\n\n"
            "### Key features\n- Drag cards between columns, or move them with the menu on each card\n"
            "- Filter by kind of work\n- Add a card right where it belongs; Escape takes it back\n\n"
            "### Design highlights\n- Columns light up where a card would land\n"
            "- On phones the columns snap one by one\n",
            {
                PAGE: "Header and board",
                "components/board.tsx": "Columns, dragging, filter, new cards",
                "components/task-card.tsx": "One card and its menu",
                "lib/tasks.ts": "The tasks, columns and kinds of work",
            },
        ),
        "charts": Recorded(
            "Energy report",
            "A chart page lives from one big picture that can be read in different ways, with smaller ones that answer "
            "the next question. ",
            "One large chart in three ways, a day in June, where it went, and every day of the year as a square.\n\n",
            "### What I built\nA report of a year's energy, in charts.\n\n"
            "### Key features\n- Area, lines or bars of the same year; the numbers follow the pointer\n"
            "- A day in June, stacked, and a ring of where it went\n- Every day of the year as a square\n\n"
            "### Design highlights\n- All charts are drawn by the kit in the theme's chart colours\n"
            "- The heat of the sun is the only decoration\n",
            {
                PAGE: "Headline and the order of the charts",
                "components/energy-report.tsx": "Key figures, the year, a day, the ring",
                "components/year-heatmap.tsx": "Every day of the year as a square",
            },
        ),
    }
)


@functools.cache
def files_of(recording: str) -> Mapping[str, str]:
    """The recorded files by their path in a project. Read once."""
    if recording == "pricing_yearly":
        return MappingProxyType({**files_of("pricing"), **files_of("yearly")})
    root = FOLDER / recording
    found = {path.relative_to(root).as_posix(): path.read_text() for path in sorted(root.rglob("*.ts*"))}
    return MappingProxyType(found)
