"""Large numbers and ratios, as pages say them."""

import pytest

from components.powers import powers, times


@pytest.mark.parametrize(
    "value, text",
    [
        (0, "0"),
        (8, "8"),
        (0.5, "0.5"),
        (-3.14159, "−3.14"),
        (16384, "16,384"),
        (2.199e12, "2.2·10¹²"),
        (9.96e6, "1.0·10⁷"),
    ],
)
def test_large_numbers_are_said_with_a_power_of_ten(value, text):
    assert powers(value) == text


def test_ratios_are_said_in_three_digits_or_whole():
    assert [times(x) for x in (512.0, 15.9372, 999.6, 8192.4, 2.0)] == ["512×", "15.9×", "1,000×", "8,192×", "2×"]
