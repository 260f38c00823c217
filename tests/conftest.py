"""One BLAS thread, as the server has it: on a busy machine several wait for one another for minutes.

And no property is timed: an example that takes long on a busy machine is no error.
"""

import os

from hypothesis import settings

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
