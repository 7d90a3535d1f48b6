"""Fetching of artifacts: only what is missing, only what is whole, kept whatever happens."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest_types import Repository, Told

from harness.core.errors import EnvironmentMissing, UsageError
from harness.releases.artifacts import client_class_path, ensure, server_class_path
