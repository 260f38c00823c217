"""Two modes, the frames: what the figures show at each token, in the form it is sent."""

from __future__ import annotations

import numpy as np

from components.forms_run import CHANNELS, D_V, FORMS_DRAWN, RANDOM, Run
from components.forms_said import brief, decimals, fraction, sci, so_far
from components.plots import spread
from compute.pitfalls import writes

ROWS, COLUMNS = 16, D_V
"""Most cells that a picture of the state has room for; of more features, evenly spread ones are shown."""

MOST = 64
"""Chunks that a grid has room for."""

FLOOR, CEILING = 1e-20, 1e3
"""Ends of the axis of differences; none at all is drawn at its floor, an undefined one a decade below its ceiling."""

LOW, HIGH = 0.1, 400
"""Ends of the axis of what comes back of ones."""

APART = 0.02
"""Of the range of outputs: from so far on a broken output has a name of its own."""


PARTS = {
    # what the picture of the recurrence holds, as most rows and columns of cells
    "write": (ROWS, COLUMNS),
    "S": (ROWS, COLUMNS),
    "phi_k": (ROWS, 1),
    "phi_q": (ROWS, 1),
    "z": (ROWS, 1),
    "v": (1, COLUMNS),
    "num": (1, COLUMNS),
    "o": (1, COLUMNS),
}


ORDERS = {"read_first": "read, then write", "one_summary": "all is written, then read"}
"""What the picture of the recurrence is called where a mistake changes the order."""


def shown(count: int, most: int) -> np.ndarray:
    """Which of `count` rows are shown where there is room for `most`."""
    kept = min(count, most)
    return np.arange(kept) * count // kept


def level(x: np.ndarray, scale: float) -> np.ndarray:
    """Bytes of a diverging palette: 128 is zero, undefined values too."""
    share = np.clip(np.nan_to_num(x) / (scale or 1.0), -1, 1)
    return np.rint(127.5 + 127.5 * share).astype(np.uint8)


def state_cells(told: Run) -> np.ndarray:
    """Levels of all that the recurrence holds, [T, cells]; S and its writes share a scale, as do v and o."""
    T = told.T
    columns = shown(told.V.shape[1], COLUMNS)
    phi_q, phi_k = told.features or np.zeros((2, T, ROWS))
    rows = shown(phi_k.shape[1], ROWS)
    phi_q, phi_k, V, O = phi_q[:, rows], phi_k[:, rows], told.V[:, columns], told.outputs["recurrent"][:, columns]
    S, z, num = np.zeros((T, len(rows), len(columns))), np.zeros((T, len(rows))), np.zeros((T, len(columns)))
    if told.written is not None:
        S, z = told.form.read(told.written.S[:, rows][:, :, columns], told.written.z[:, rows])
    if told.steps is not None:
        num = told.steps.num[:, columns]
    of_state, of_features, of_values = np.abs(S).max(), max(np.abs(phi_q).max(), np.abs(phi_k).max()), np.abs(V).max()
    levels = {
        "write": level(writes(phi_k, V), of_state),
        "S": level(S, of_state),
        "phi_k": level(phi_k, of_features),
        "phi_q": level(phi_q, of_features),
        "z": level(z, np.abs(z).max()),
        "v": level(V, of_values),
        "num": level(num, np.abs(num).max()),
        "o": level(O, of_values),
    }
    cells = []
    for name, (most_rows, most_columns) in PARTS.items():
        given = levels[name].reshape(T, -1)
        cells.append(np.pad(given, ((0, 0), (0, most_rows * most_columns - given.shape[1])), constant_values=128))
    return np.concatenate(cells, axis=1)


def state_shape(told: Run) -> tuple[int, int]:
    """Rows and columns of the state that are shown."""
    features = told.features[1].shape[1] if told.features else ROWS
    return min(features, ROWS), min(told.V.shape[1], COLUMNS)


def matrix_cells(told: Run) -> dict[str, np.ndarray]:
    """The masked kernel matrix as squares on a side of 1, by square roots so that small entries show."""
    t, s = np.tril_indices(told.T)
    entries = told.kernel[t, s]
    roots = np.sqrt(np.abs(entries) / (np.abs(entries).max() or 1.0)) * np.sign(entries)
    room = RANDOM * (RANDOM + 1) // 2 - len(t)
    places = {"left": s, "right": s + 1, "top": t, "bottom": t + 1}
    absent = np.full(room, np.nan)
    return {
        **{name: np.concatenate([at / told.T, absent]).astype(np.float32) for name, at in places.items()},
        "value": np.pad(level(roots, 1.0), (0, room), constant_values=128),
    }


def padded(x: np.ndarray) -> np.ndarray:
    return np.concatenate([x, np.full(MOST - len(x), np.nan)])


def marks(told: Run) -> dict[str, np.ndarray]:
    """Places on the matrix, whose side is 1, and on the axis of tokens."""
    t, T = np.arange(told.T), told.T
    starts = padded(np.array([start for start, _ in told.chunks], dtype=float))
    starts[0] = np.nan  # nothing is handed to the first chunk
    token = (t + 1).astype(np.float32)
    return {
        "top": (t / T).astype(np.float32),
        "middle": ((t + 0.5) / T).astype(np.float32),
        "bottom": ((t + 1) / T).astype(np.float32),
        "handed": np.where(starts <= t[:, None], starts / T, np.nan).astype(np.float32),
        "token": token,
        "token_pair": np.stack([token, token], axis=1),
        "end_x": np.stack([token] * 2 * CHANNELS, axis=1),
        "unread": token + np.float32(0.06 if told.by_hand else 0.5),  # room for the ring of the token itself
    }


def outputs(told: Run) -> dict[str, np.ndarray]:
    """The channels drawn, one after the other with a gap between: [CHANNELS · (RANDOM + 1)]."""
    t = np.arange(1, RANDOM + 1)

    def stacked(columns: np.ndarray) -> np.ndarray:
        return np.concatenate([np.append(column, np.full(RANDOM + 1 - len(column), np.nan)) for column in columns.T])

    curves = {form: stacked(told.outputs[form][:, :CHANNELS]) for form in FORMS_DRAWN}
    low, high = value_range(told)
    edge = 0.05 * (high - low)  # all of a mark stays in the frame
    curves["below"] = np.where(curves["recurrent"] < low, low + edge, np.nan)
    curves["above"] = np.where(curves["recurrent"] > high, high - edge, np.nan)
    return {
        name: x.astype(np.float32) for name, x in {"t": stacked(np.stack([t] * CHANNELS, axis=1)), **curves}.items()
    }


def checks(told: Run) -> dict[str, np.ndarray]:
    """Differences from the parallel form, and what comes back of ones: [RANDOM], NaN beyond the last token."""
    undefined = np.isnan(told.gaps["recurrent"]) & (told.steps is not None)
    columns = {f"gap_{form}": np.clip(gap, FLOOR, CEILING) for form, gap in told.gaps.items()}
    columns |= {"undefined": np.where(undefined, CEILING / 10, np.nan)}
    columns |= {f"ones_{form}": np.clip(ones, LOW, HIGH) for form, ones in told.constants.items()}
    absent = np.full(RANDOM - told.T, np.nan)
    drawn = {name: np.append(values, absent).astype(np.float32) for name, values in columns.items()}
    return {"t": np.arange(1, RANDOM + 1, dtype=np.float32), **drawn}


def held(frames: dict[str, object]) -> dict[str, object]:
    """As many frames as the longest example has: a shorter one holds still at its last token.

    With one length for all, a frame that is turned to while an answer is still coming in exists in either.
    """
    T = len(frames["token"])
    rows = np.minimum(np.arange(RANDOM), T - 1)
    return {
        name: column[rows] if isinstance(column, np.ndarray) else [column[t] for t in rows]
        for name, column in frames.items()
    }


def labels(told: Run) -> dict[str, object]:
    """Texts at the last token read and where they stand, one row a token."""
    low, high = value_range(told)
    right, own = (x[:, :CHANNELS] for x in (told.right["parallel"], told.outputs["recurrent"]))
    named = [[f"oₜ[{i}]" for i in range(1, CHANNELS + 1)] * 2 for _ in right]
    for row, apart in zip(named, np.abs(own - right) > APART * (high - low)):
        row[CHANNELS:] = [f"recurrent [{i}]" * bool(far) for i, far in enumerate(apart, 1)]
    drawn = np.clip(np.concatenate([right, np.where(np.isfinite(own), own, right)], axis=1), low, high)
    ends = [_ends(row, texts, low, high) for row, texts in zip(drawn, named)]
    gaps = [[told.gaps[form][t] for form in told.gaps] for t in range(told.T)]
    exists = {"recurrent": told.steps is not None, "chunkwise": told.member is not None}
    return {
        "end_y": np.array(ends, dtype=np.float32),
        "end_text": named,
        "gap_y": np.array([gap_heights(pair) for pair in gaps], dtype=np.float32),
        "gap_text": [
            [form + (" 0/0" if np.isnan(gap) else "") if exists[form] else "" for form, gap in zip(told.gaps, pair)]
            for pair in gaps
        ],
    }


def _ends(heights: np.ndarray, texts: list[str], low: float, high: float) -> list[float]:
    """Heights of the names of one token's outputs; those that are not shown take no room."""
    shown = [i for i, text in enumerate(texts) if text]
    placed = dict(zip(shown, spread([float(heights[i]) for i in shown], 0.14 * (high - low), low, high)))
    return [placed.get(i, float(y)) for i, y in enumerate(heights)]


def constant_end(told: Run) -> dict[str, object]:
    """What comes back of ones at the last token."""
    one = told.constants["recurrent"][-1]
    said = "" if told.steps is None else "0/0" if np.isnan(one) else decimals(one)
    return {
        "x": np.array([float(told.T)]),
        "y": np.clip(np.nan_to_num([one], nan=LOW), LOW, HIGH),
        "text": [said],
    }


def gap_heights(gaps: list[float]) -> np.ndarray:
    """Heights of the two labels: at their gap, but one above and one below the dashed line if they lie near it."""
    level = np.log10([max(FLOOR, gap) if np.isfinite(gap) else CEILING / 10 for gap in gaps])
    level = [aside if x < -14 else x for x, aside in zip(level, (-13.6, -18.1))]
    return 10.0 ** np.array(spread(level, 2.4, -19, np.log10(CEILING) - 1))


def side_texts(told: Run) -> dict[str, list[str]]:
    """Numbers that stand outside the axes: the sum of the row, and the side column."""
    plain = fraction if told.by_hand and told.pitfall != "eps_inside" else brief
    sums = [plain(x) for x in told.row_sums]
    dens = ["none"] * told.T if told.steps is None else [plain(x) for x in told.steps.den]
    order = ORDERS.get(told.pitfall, "write, then read")
    step = f"of {told.T}: {order}" if told.features else f"of {told.T}: none without a finite φ"
    exists = {"recurrent": told.steps is not None, "chunkwise": told.member is not None}
    return {
        "sum": [f"Σ {text}" for text in sums],
        "step": [f"recurrence at token {t + 1} {step}" for t in range(told.T)],
        "denominator": [f"{den} · {text}" for den, text in zip(dens, sums)],
        **{
            f"{form}_gap": _largest(gap) if exists[form] else ["none exists"] * told.T
            for form, gap in told.gaps.items()
        },
    }


def _largest(gap: np.ndarray) -> list[str]:
    """Largest difference so far, and whether an output was undefined."""
    said, undefined = so_far(gap), np.logical_or.accumulate(np.isnan(gap))
    defined = np.logical_or.accumulate(~np.isnan(gap))
    return [("0/0, then " * bool(bad) + sci(x)) if known else "0/0" for x, bad, known in zip(said, undefined, defined)]


def value_range(told: Run) -> tuple[float, float]:
    """Of the outputs drawn, a broken form up to three times as far as the right one; the rest leaves the frame."""
    right, own = (told.outputs[form][:, :CHANNELS] for form in ("parallel", "recurrent"))
    low, high = float(right.min()), float(right.max())
    reach = 3 * (high - low)
    if np.isfinite(own).any():
        low, high = max(min(low, np.nanmin(own)), low - reach), min(max(high, np.nanmax(own)), high + reach)
    room = 0.12 * (high - low)
    return float(low - room), float(high + room)
