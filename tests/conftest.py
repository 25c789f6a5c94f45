import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """The folder of shared test material: PROVENANCE_SHARED, else `shared` beside the repository. Skips when absent."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get("PROVENANCE_SHARED") or beside)
    if not folder.is_dir():
        pytest.skip(f"no shared test material at {folder}; set PROVENANCE_SHARED to its folder")
    return folder
