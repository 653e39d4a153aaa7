"""Attachments: images that people upload to send them in a message."""
