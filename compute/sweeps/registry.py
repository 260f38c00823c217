"""All sweeps, by the word that names them on a command line and in a stored result.  One more is one more line."""

from __future__ import annotations

from compute.sweeps.base import Sweep
from compute.sweeps.crosstalk_map import CrosstalkMap
from compute.sweeps.feature_surface import FeatureSurface
from compute.sweeps.form_times import FormTimes
from compute.sweeps.rank_curves import RankCurves
from compute.sweeps.recall_map import RecallMap
from compute.sweeps.trained_recall import TrainedRecall

SWEEPS: dict[str, Sweep] = {
    sweep.word: sweep
    for sweep in (
        CrosstalkMap(),
        FeatureSurface(),
        RankCurves(),
        FormTimes(),
        RecallMap(),
        TrainedRecall(),
    )
}


def find_sweep(word: str) -> Sweep:
    """ValueError names the words there are."""
    if word not in SWEEPS:
        raise ValueError(f"sweep must be one of {', '.join(SWEEPS)}, got {str(word)[:40]!r}")
    return SWEEPS[word]
