"""Questions too long for a page: computed in a process of their own, on a GPU where there is one.

base.py       what a sweep, its question and its result are
registry.py   the sweeps there are; each has a file of its own
form_flops.py the law beside measured times
running.py    running one here and now
workbench.py  draws, pieces that fit into memory, a way to be stopped
places.py     devices and estimates
packing.py    results as bytes, with a checksum; store.py keeps them on disk
runner.py     the doors of the queue; books.py who waits for what, dispatch.py its thread
worker.py     the process that computes; local.py starts it, cluster.py uses a Dask cluster instead
__main__.py   `python -m compute.sweeps`
"""
