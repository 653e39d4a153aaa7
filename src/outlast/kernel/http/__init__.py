"""Building blocks of routes: the signed-in user, pages of a list, problems (RFC 9457), event streams."""
