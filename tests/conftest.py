"""One BLAS thread, as the server has it: on a busy machine several wait for one another for minutes."""

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")
