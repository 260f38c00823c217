"""Maps, stops and vectors that the tests of sharpness share."""

from __future__ import annotations

import numpy as np
import pytest

from compute.feature_maps import FEATURE_MAPS

STOPS = np.geomspace(0.25, 16, 73)
MEMBERS = {
    "softmax": None,
    **{word: Map() for word, Map in FEATURE_MAPS.items()},
    "favor iid": FEATURE_MAPS["favor"](m=40, orthogonal=False),
    "hedgehog learned": FEATURE_MAPS["hedgehog"](W=[[1.0, 0.5], [0.0, -1.0], [0.3, 0.3], [2.0, 0.1]], b=(0.4, -0.2)),
}
POSITIVE = [name for name, phi in MEMBERS.items() if phi is None or phi.positivity in ("yes", "kernel")]
every_member = pytest.mark.parametrize("phi", MEMBERS.values(), ids=MEMBERS)
every_positive = pytest.mark.parametrize("phi", [MEMBERS[name] for name in POSITIVE], ids=POSITIVE)


def vectors() -> tuple[np.ndarray, np.ndarray]:
    """Queries [2, 6, 4] and keys [2, 9, 4]."""
    rng = np.random.default_rng(17)
    return rng.standard_normal((2, 6, 4)), rng.standard_normal((2, 9, 4))
