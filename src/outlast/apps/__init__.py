"""The apps: each is one folder with its tables, rules, store, actions, agent, routes and commands."""


def load() -> None:
    """Tell the kernel what the apps add to it. Again is fine; imports all of them."""
    from outlast.apps.documents import section_locks
    from outlast.apps.documents.proposals import open_proposals
    from outlast.apps.documents.subject import DOCUMENT
    from outlast.apps.pages.subject import PAGE
    from outlast.apps.screens.subject import SCREEN
    from outlast.kernel.inbox import sources
    from outlast.kernel.subjects import registry

    for subject in (SCREEN, PAGE, DOCUMENT):
        registry.register(subject)
    for source in (open_proposals.proposals_for, section_locks.waiting):
        sources.register(source)
