"""Where pictures that people bring lie among an app's files."""

import re

from hypothesis import given
from hypothesis import strategies as st

from outlast.apps.screens.edits.picture_paths import picture_address, picture_path

BLOB = "sha256/ab/abcdef0123456789"


def test_a_pictures_name_and_content_make_its_place() -> None:
    path = picture_path("My Cat (2).PNG", "image/png", BLOB)
    assert path == "public/images/my-cat-2-abcdef01.png"
    assert picture_address(path) == "/images/my-cat-2-abcdef01.png"
    assert picture_path("", "image/jpeg", BLOB) == "public/images/picture-abcdef01.jpg"


@given(st.text(max_size=200), st.sampled_from(["image/png", "image/webp", "text/html"]))
def test_whatever_its_name_the_place_is_one_plain_file(name: str, media_type: str) -> None:
    path = picture_path(name, media_type, BLOB)
    assert re.fullmatch(r"public/images/[a-z0-9-]{1,40}-abcdef01\.(png|webp|bin)", path)
