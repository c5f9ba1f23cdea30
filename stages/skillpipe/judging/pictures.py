"""Pictures for a judge, such as of a screen before and after an attempt."""

from collections.abc import Mapping
from pathlib import Path

from skillpipe.errors import SkillpipeError
from skillpipe.models import Image, ImageType

_TYPES: dict[str, ImageType] = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
    ".gif": "image/gif",
}


def read_images(paths: Mapping[str, str | Path]) -> tuple[Image, ...]:
    """The pictures that are there, in order; keys say what each is of. A file that is missing is left out: an attempt
    that ended early has no last picture, and can be judged by the rest.

    Raises SkillpipeError for a file of another kind than PNG, JPEG, WebP and GIF, told by its name.
    """
    images = []
    for name, path in paths.items():
        file = Path(path)
        media_type = _TYPES.get(file.suffix.lower())
        if media_type is None:
            raise SkillpipeError(f"{file}: no picture that a judge can be shown; allowed are {', '.join(_TYPES)}")
        if file.is_file():
            images.append(Image(name, media_type, file.read_bytes()))
    return tuple(images)
