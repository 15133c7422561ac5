"""The memory of a worktree, read while nobody writes in it.

A promotion that is finished after a kill, or a checkout, changes the folder for a moment. Whoever calls just then is
not refused for that: it is read again a little later. Blocking.
"""

import time
from collections.abc import Callable

from governance.team.contracts.base import Bound
from governance.team.tree import read_tree
from governance.team.trees import Tree

PAUSES = (0.05, 0.1, 0.2, 0.4)  # seconds; a promotion of 20 files is done within them
CHANGED = "changed"


def read_still(bound: Bound, *, entries: bool = True, sleep: Callable[[float], None] = time.sleep) -> Tree:
    """The tree; not complete when it changed at each reading. `entries`: also those. Raises what `read_tree` does."""
    tree = read_tree(bound.root, bound.binding.memory_root, entries=entries)
    for pause in PAUSES:
        if tree.complete or all(fault.code != CHANGED for fault in tree.faults):
            return tree
        sleep(pause)
        tree = read_tree(bound.root, bound.binding.memory_root, entries=entries)
    return tree
