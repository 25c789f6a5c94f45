"""What can go wrong, each with the exit code that the command line ends with.

    ProvenanceError                 1
    ├── UsageError                  2   a question or an option that makes no sense
    ├── ArtifactError               3   a file that dbt wrote cannot be read
    │   └── ArtifactVersionError    3   it is of a version that is not known here
    ├── ProfileError                4   profiles.yml, the profile or the target is missing
    ├── WarehouseError              5   the warehouse cannot be reached
    │   └── WarehouseLockedError    5   another process holds the file
    ├── SurfaceError                6   the relations and functions are not there: the package was not built
    └── DbtRunError                 7   dbt itself ended with an error

A message says what was wrong, where, and what to do next, in one or two sentences.
"""

from __future__ import annotations

__all__ = [
    "ArtifactError",
    "ArtifactVersionError",
    "DbtRunError",
    "ProfileError",
    "ProvenanceError",
    "SurfaceError",
    "UsageError",
    "WarehouseError",
    "WarehouseLockedError",
]


class ProvenanceError(Exception):
    """The base of all errors of this package. `exit_code` is what the process ends with."""

    exit_code = 1

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class UsageError(ProvenanceError):
    """A question or an option that makes no sense."""

    exit_code = 2


class ArtifactError(ProvenanceError):
    """A file that dbt wrote is missing, cut short, or is no such file at all."""

    exit_code = 3


class ArtifactVersionError(ArtifactError):
    """A file that dbt wrote is of a version that is not known here."""


class ProfileError(ProvenanceError):
    """profiles.yml, the profile or the target is missing."""

    exit_code = 4


class WarehouseError(ProvenanceError):
    """The warehouse cannot be reached."""

    exit_code = 5


class WarehouseLockedError(WarehouseError):
    """Another process holds the warehouse's file."""


class SurfaceError(ProvenanceError):
    """The public relations and functions are not there: the package was not built on this target."""

    exit_code = 6


class DbtRunError(ProvenanceError):
    """dbt was run and ended with an error."""

    exit_code = 7
