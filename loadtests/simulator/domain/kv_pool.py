"""The blocks of the KV cache: who holds them, what they contain, and which goes first when room is needed.

A block that is full is known by a hash of the salt and of all tokens up to its end, so equal hashes mean equal
prefixes. A block nobody holds keeps its content until it is taken for something else, the longest unused first.
"""

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b
from typing import NewType

BlockId = NewType("BlockId", int)


def prefix_hash(parent: bytes, tokens: tuple[int, ...]) -> bytes:
    """The hash of a block whose predecessor has the hash `parent`. Ids may be of any size."""
    return blake2b(repr(tokens).encode(), digest_size=16, key=parent).digest()


def root_hash(salt: str) -> bytes:
    """Stands before the first block, so that different salts never meet."""
    return blake2b(salt.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class KvPool:
    def __init__(self, *, blocks: int) -> None:
        self._size = blocks
        # A large pool has a hundred thousand blocks, most of which a drill never needs: those cost nothing.
        self._untouched = blocks
        self._holders: dict[BlockId, int] = {}
        self._hash_of: dict[BlockId, bytes] = {}
        self._block_of: dict[bytes, BlockId] = {}
        self._released: OrderedDict[BlockId, None] = OrderedDict()

    @property
    def size(self) -> int:
        return self._size

    @property
    def free(self) -> int:
        """Blocks nobody holds; they may still have content."""
        return self._untouched + len(self._released)

    @property
    def usage(self) -> float:
        """Share of the blocks that are held: 0 when idle, however much is cached."""
        return 1 - self.free / self._size if self._size else 0.0

    def find(self, hashes: Sequence[bytes]) -> list[BlockId]:
        """The blocks of the longest cached prefix; they are not held by asking."""
        found = []
        for hash_ in hashes:
            block = self._block_of.get(hash_)
            if block is None:
                break
            found.append(block)
        return found

    def unheld(self, blocks: Sequence[BlockId]) -> int:
        """How many of these would leave the free ones if they were held."""
        return sum(1 for block in blocks if block not in self._holders)

    def hold(self, blocks: Sequence[BlockId]) -> None:
        for block in blocks:
            self._released.pop(block, None)
            self._holders[block] = self._holders.get(block, 0) + 1

    def take(self, count: int) -> list[BlockId]:
        """Hold `count` blocks for new content; what the longest unused ones contained is forgotten."""
        if count > self.free:
            raise ValueError(f"{count} blocks wanted, {self.free} free")
        return [self._take_oldest() for _ in range(count)]

    def _take_oldest(self) -> BlockId:
        if self._untouched:
            self._untouched -= 1
            block = BlockId(self._untouched)
        else:
            block, _ = self._released.popitem(last=False)
            self._forget(block)
        self._holders[block] = 1
        return block

    def publish(self, block: BlockId, hash_: bytes) -> None:
        """Say what a full block contains. Of two with the same content the first one is found."""
        if hash_ not in self._block_of:
            self._block_of[hash_] = block
            self._hash_of[block] = hash_

    def release(self, blocks: Sequence[BlockId]) -> None:
        """Give blocks back in the order of their prefix: its end is evicted before its beginning."""
        for block in reversed(blocks):
            self._holders[block] -= 1
            if not self._holders[block]:
                del self._holders[block]
                self._released[block] = None

    def forget_all(self) -> bool:
        """Empty the cache; refused while somebody holds a block."""
        if self._holders:
            return False
        self._block_of.clear()
        self._hash_of.clear()
        return True

    def _forget(self, block: BlockId) -> None:
        hash_ = self._hash_of.pop(block, None)
        if hash_ is not None:
            del self._block_of[hash_]
