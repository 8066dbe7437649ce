"""The checker's part about coverage: events that exist, and fields that hold the names of dropped records."""

from __future__ import annotations

from assay.lang.check.checker import Checker


def check_coverage(checker: Checker) -> None:
    """Check that coverage is about events and instants of the package, and names fields that the events have."""
    if checker.problems:
        return  # a name that is wrong elsewhere would be reported twice
    events = {event.name: event for event in checker.package.events}
    instants = {f"{grain.name}.{item.name}" for grain in checker.package.grains for item in grain.instants}
    for item in checker.package.coverage:
        if item.name in instants:
            continue
        if "." in item.name:
            checker.missing("unknown-instant", f"coverage of unknown instant `{item.name}`", item.name, instants)
            continue
        if item.name not in events:
            checker.missing("unknown-event", f"coverage of unknown event `{item.name}`", item.name, events)
            continue
        fields = [field.name for field in events[item.name].fields]
        for name in (item.dropped, item.count):
            if name and name not in fields:
                message = f"coverage of event `{item.name}` names unknown field `{name}`"
                checker.missing("unknown-field", message, name, fields, within=(item.name,))
