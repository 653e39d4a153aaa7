"""Attachments: images that users upload to send in a message."""
