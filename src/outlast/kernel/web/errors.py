"""Why a web page cannot be read."""


class NoPage(ValueError):
    """The text is not a readable web page; the message gives the reason."""
