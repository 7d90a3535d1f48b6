"""
``make image``: make the images of the releases given, 5.3.3 if none is, and tag each ``rocketdiff/server:RELEASE`` as well.

The backend finds its images by their digests; the plain tag is for whoever starts one by hand (docker/compose.yaml).
"""

import sys
from collections.abc import Sequence
from contextlib import closing

from rocketdiff.cluster.containers.engine import Engine, engine_errors
from rocketdiff.cluster.containers.images import REPOSITORY, image_for
from rocketdiff.core.errors import HarnessError

_DEFAULT_RELEASE = "5.3.3"


def make_images(releases: Sequence[str]) -> None:
    """
    Make what is missing and say what there is.

    Raises what image_for raises.
    """
    with closing(Engine.connect()) as engine:
        for release in releases:
            image = image_for(engine, release)
            with engine_errors(f"{image.name} to be tagged"):
                engine.client.images.get(image.name).tag(REPOSITORY, release)
            print(f"{image.name} = {REPOSITORY}:{release}")  # noqa: T201  # for whoever called make


if __name__ == "__main__":
    try:
        make_images(sys.argv[1:] or [_DEFAULT_RELEASE])
    except HarnessError as error:
        print(f"rocketdiff: {error}", file=sys.stderr)  # noqa: T201  # as the command line does
        sys.exit(int(error.exit_code))
