"""Who is in which document, at which block, and who writes there."""

from collections.abc import Iterator
from dataclasses import dataclass

from outlast.kernel.presence.shapes import EphemeralPresence
from outlast.kernel.projects.shapes import MemberData


@dataclass(slots=True)
class _Visit:
    member: MemberData
    block_id: str | None
    typing_until: float | None
    gone_at: float | None


class Visits:
    """Who has which document open. A user who is shown follows the document's project as well; without that they are
    gone after a few seconds.

    Memory: an entry per document that is open somewhere; a cache that people rebuild by moving in it. Functions return
    the documents in which something that is shown has changed.
    """

    def __init__(self) -> None:
        self._visits: dict[str, dict[str, _Visit]] = {}
        self._project: dict[str, str] = {}

    def move(
        self,
        document_id: str,
        project_id: str,
        member: MemberData,
        block_id: str | None,
        *,
        typing_until: float | None,
        gone_at: float | None,
    ) -> list[str]:
        """A member is at a block of the document (None: nowhere in it). `typing_until` None: they do not type;
        `gone_at` None: they follow its project."""
        before = self._visits.get(document_id, {}).get(member.user_id)
        visit = _Visit(member, block_id, typing_until, gone_at)
        self._visits.setdefault(document_id, {})[member.user_id] = visit
        self._project[document_id] = project_id
        return [] if before is not None and _shown(before) == _shown(visit) else [document_id]

    def leave(self, document_id: str, user_id: str) -> list[str]:
        """A member closed the document. Repeating is harmless."""
        visits = self._visits.get(document_id, {})
        if visits.pop(user_id, None) is None:
            return []
        if not visits:
            del self._visits[document_id]
        return [document_id]

    def follow(self, project_id: str, user_id: str, gone_at: float | None) -> None:
        """The user follows the project again (None), or stopped to and is shown until `gone_at`."""
        for document_id, visits in self._visits.items():
            if self._project[document_id] == project_id and user_id in visits:
                visits[user_id].gone_at = gone_at

    def sweep(self, now: float) -> list[str]:
        """End the typing of those who have paused, and forget those who are gone."""
        changed = []
        for document_id, visits in list(self._visits.items()):
            for user_id, visit in list(visits.items()):
                if visit.gone_at is not None and visit.gone_at <= now:
                    changed += self.leave(document_id, user_id)
                elif visit.typing_until is not None and visit.typing_until <= now:
                    visit.typing_until = None
                    changed.append(document_id)
        return list(dict.fromkeys(changed))

    def deadlines(self) -> Iterator[float]:
        """When `sweep` has something to do."""
        for visits in self._visits.values():
            for visit in visits.values():
                yield from (until for until in (visit.typing_until, visit.gone_at) if until is not None)

    def present(self, document_id: str) -> EphemeralPresence:
        """Who has the document open (by name), who types, and who is where."""
        visits = self._visits.get(document_id, {})
        ordered = sorted(visits.items(), key=lambda item: (item[1].member.name, item[0]))
        return EphemeralPresence(
            project_id=self._project.get(document_id, ""),
            document_id=document_id,
            watching=[visit.member for _, visit in ordered],
            typing=sorted(user_id for user_id, visit in visits.items() if visit.typing_until is not None),
            places={user_id: visit.block_id for user_id, visit in ordered if visit.block_id is not None},
        )

    def __len__(self) -> int:
        return len(self._visits)


def _shown(visit: _Visit) -> tuple[MemberData, str | None, bool]:
    return visit.member, visit.block_id, visit.typing_until is not None
