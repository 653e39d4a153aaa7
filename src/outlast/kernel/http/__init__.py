"""What routes are written with: the signed-in user, pages of a list, problems (RFC 9457), event streams."""
