"""The errors of schedules."""

from outlast.base.errors import Conflict, InvalidRequest


class InvalidCron(InvalidRequest):
    """A cron expression cannot be read, or never comes due. Fields: `field`."""

    code = "invalid_cron"
    default_hint = (
        "Use five fields: minute, hour, day of the month, month, day of the week. 0 8 * * 1-5 is 8:00 on weekdays."
    )


class CronTooFrequent(InvalidRequest):
    """A cron expression comes due more often than this server allows. Fields: `field`, `least_s`."""

    code = "cron_too_frequent"


class UnknownZone(InvalidRequest):
    """There is no time zone of this name. Fields: `field`."""

    code = "unknown_zone"
    default_hint = "Use a name of the IANA database, such as Europe/Berlin or UTC."


class TooManySchedules(Conflict):
    """The project has as many schedules as it may have. Fields: `limit`."""

    code = "too_many_schedules"
    default_hint = "Delete one that is no longer needed, or ask the operator to raise schedules.per_project."


class ScheduleOfCode(Conflict):
    """The schedule is written in the operator's code, so it cannot be edited or deleted here."""

    code = "schedule_of_code"
    default_hint = "Pause it here, or change it in the code of its agent."


class ScheduleSkipped(Conflict):
    """A run of the schedule waits already in its thread, so another one is not started."""

    code = "schedule_skipped"
    default_hint = "Look at the thread of the schedule: a run there may wait for a person."
