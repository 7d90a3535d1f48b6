"""The reference as a subject: ``python -m rocketdiff.drivers.python.reference --release 5.3.3``."""

import argparse

from rocketdiff.core.subject import SubjectId
from rocketdiff.drivers.python.consuming.reference import as_consumer, member_capabilities
from rocketdiff.drivers.python.sending.reference import ReferenceClient, capabilities_of
from rocketdiff.drivers.python.sending.runner import as_producer
from rocketdiff.drivers.python.session import own_stdout, run_subject
from rocketdiff.drivers.python.writer import RecordWriter
from rocketmq_reference.dialects import RELEASES

_CLIENT = "python"


def main() -> None:
    """Run until the command stop or the end of stdin."""
    parser = argparse.ArgumentParser(description="The reference as a subject of rocketdiff.")
    parser.add_argument("--release", required=True, choices=RELEASES, help="whose dialect to speak")
    release = parser.parse_args().release
    writer = RecordWriter(own_stdout())
    run_subject(
        SubjectId(_CLIENT, release),
        (*capabilities_of(release), *member_capabilities(release)),
        as_producer(lambda setup, speak: ReferenceClient(release, setup, speak)) | as_consumer(release),
        writer,
        writer.put,
    )


if __name__ == "__main__":
    main()
