"""What the design promises in milliseconds and bytes, measured over the real server command and a real browser.

`python -m benchmarks` runs every part, `python -m benchmarks drag ask` some of them.
"""
