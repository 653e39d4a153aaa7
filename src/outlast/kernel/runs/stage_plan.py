"""The work around a model's turns that an agent has, and the tool that ends it."""

from typing import Final

from outlast.base.records import dataclass

FINAL_ANSWER: Final = "final_answer"  # the tool with which a model gives an answer that is an object


@dataclass(frozen=True, slots=True)
class StagePlan:
    """The stages that an agent has before and after a model's turns. `done_mark`: text with which a turn reports that
    the work is done, even if it calls tools; if empty, only a turn without calls reports it."""

    prepares: bool = True
    checks: bool = True
    done_mark: str = ""
