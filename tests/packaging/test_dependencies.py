"""Imports are declared, declarations locked, and the lock names no registry."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.packaging.sources import ROOT, Nodes, read, reader

pytestmark = pytest.mark.xdist_group("sources")  # read once, in one process

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCK = (ROOT / "requirements.lock").read_text()
# Optional: imported only where it is installed, in its own process.
OPTIONAL = {"rocketmq"}


def imported_packages(folder: str) -> set[str]:
    """Top-level names, without ours and the standard library's."""
    names = {name for _, imports in read(imports_of, folder) for name in imports}
    return (
        names - set(sys.stdlib_module_names) - {"maintenance", "rocketdiff", "rocketmq_reference", "tests"} - OPTIONAL
    )


@reader
def imports_of(nodes: Nodes) -> set[str]:
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    of_modules = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    return {name.split(".")[0] for name in plain | of_modules}


def declared(*groups: list[str]) -> dict[str, Requirement]:
    requirements = [Requirement(text) for group in groups for text in group]
    return {canonicalize_name(requirement.name): requirement for requirement in requirements}


def locked() -> dict[str, set[Version]]:
    """By canonical name; several if Python versions differ."""
    found: dict[str, set[Version]] = {}
    for name, version in re.findall(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)", LOCK, flags=re.MULTILINE):
        found.setdefault(canonicalize_name(name), set()).add(Version(version))
    return found


RUNTIME = declared(PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"].values())
EVERYTHING = RUNTIME | declared(*PROJECT["dependency-groups"].values())


def undeclared(imported: set[str], known: dict[str, Requirement]) -> set[str]:
    providers = packages_distributions()
    return {name for name in imported if not {canonicalize_name(d) for d in providers.get(name, ())} & set(known)}


def test_the_program_imports_only_what_it_declares() -> None:
    """The program declares what it imports, because a transitive package may disappear."""
    assert not undeclared(imported_packages("harness/rocketdiff"), RUNTIME)


def test_the_reference_imports_only_the_standard_library() -> None:
    """The reference imports only the standard library, so that it runs anywhere."""
    assert not imported_packages("reference_impl")


def test_tests_import_only_what_is_declared() -> None:
    """Tests and programs of maintainers import declared packages, including the development group's."""
    helpers = {file.stem for file in (ROOT / "tests").rglob("*.py")}
    imported = imported_packages("tests") | imported_packages("harness/maintenance")
    assert not undeclared(imported - helpers, EVERYTHING)


def test_every_requirement_is_locked_at_an_allowed_version() -> None:
    """Every requirement is locked; a changed pyproject.toml without `make lock` is noticed."""
    versions = locked()
    wrong = {name for name, need in EVERYTHING.items() if not any(v in need.specifier for v in versions.get(name, ()))}
    assert not wrong


def test_every_locked_package_has_hashes_and_no_address() -> None:
    """The lock has hashes, as pip requires, and no addresses, which each machine sets."""
    blocks = re.split(r"\n(?=[A-Za-z0-9])", LOCK)
    assert all("--hash=sha256:" in block for block in blocks if not block.startswith("#"))
    assert not re.search(r"://|--index-url|--find-links", LOCK)


def test_the_packages_that_the_customer_fixed_are_among_ours() -> None:
    """The packages that the customer fixed are declared and locked."""
    assert {"testcontainers", "pytest", "rocketmq-client-python", "pyspark"} <= set(EVERYTHING)
    assert {"testcontainers", "pytest", "rocketmq-client-python", "pyspark"} <= set(locked())
