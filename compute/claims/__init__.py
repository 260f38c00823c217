"""What this program finds for each claim of the ledger: `CHECKS[name]()` computes it anew.

A check's name stands in the ledger, assets/claims.toml.  One room per subject:

cost.py  forms.py  kernels.py  maps.py  memory.py  normaliser.py  random_features.py  rules.py  sizing.py
"""

from compute.claims import cost, forms, kernels, maps, memory, normaliser, random_features, rules, sizing
from compute.claims.agreement import RULES, agrees
from compute.claims.registry import CHECKS

__all__ = [
    "CHECKS",
    "RULES",
    "agrees",
    "cost",
    "forms",
    "kernels",
    "maps",
    "memory",
    "normaliser",
    "random_features",
    "rules",
    "sizing",
]
