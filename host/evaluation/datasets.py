"""Sets for `eval recall`: one JSON file, gzipped or not, or a folder of them.

    {"name", "lang", "namespaces": [{"ns", "docs": [[id, text], …], "queries": [[id, text, [relevant ids], type], …]}]}

A query is searched for among the documents of its own namespace. Files are read one at a time.
"""

import gzip
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from host.errors import RemoraError
from recall.contracts import Frozen

SUFFIXES = (".json", ".json.gz")
LARGEST = 1024 * 1024 * 1024  # bytes of JSON
NOTHING = "none"  # as the only relevant id: nothing should be recalled
FORMAT = (
    'Expected is {"name", "lang", "namespaces": [{"ns", "docs": [[id, text]], "queries": [[id, text, [ids], type]]}]}.'
)


class DatasetFault(RemoraError):
    """A set that cannot be used."""


class Document(Frozen, frozen=True, array_like=True):
    """Something to be found."""

    id: str | int
    text: str


class Query(Frozen, frozen=True, array_like=True):
    """What is asked, and what should be found. No relevant id, or `none` alone: nothing should."""

    id: str | int
    text: str
    relevant: tuple[str | int, ...]
    type: str = ""

    @property
    def negative(self) -> bool:
        return not self.relevant or self.relevant == (NOTHING,)


class Namespace(Frozen, frozen=True):
    """Documents, and the queries that are asked among them."""

    docs: tuple[Document, ...]
    queries: tuple[Query, ...]
    ns: str | int = ""


class Dataset(Frozen, frozen=True):
    """One file. `file`: its path as given."""

    namespaces: tuple[Namespace, ...]
    name: str = ""
    lang: str = ""
    file: str = ""


class Passed(Frozen, frozen=True):
    """A JSON file of a folder that is no set."""

    file: str


_decode = msgspec.json.Decoder(Dataset).decode
_keys = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def files(places: Iterable[Path]) -> list[tuple[Path, bool]]:
    """(file, whether it was named itself) of files and folders, each once, folders with what lies below them in order.

    Raises DatasetFault for a folder without any, and for a named file that is called otherwise.
    """
    found: dict[Path, bool] = {}
    for place in places:
        if place.is_dir():
            inside = sorted(path for path in place.rglob("*") if path.name.endswith(SUFFIXES) and path.is_file())
            if not inside:
                raise DatasetFault(f"{place} holds no set.", f"A set is a file named *{' or *'.join(SUFFIXES)}.")
            for path in inside:
                found.setdefault(path, False)
        elif not place.name.endswith(SUFFIXES):
            raise DatasetFault(f"{place} is no set.", f"A set is a file named *{' or *'.join(SUFFIXES)}.")
        else:
            found[place] = True
    return list(found.items())


def load(places: Iterable[Path]) -> Iterator[Dataset | Passed]:
    """Every set of the files and folders, as it is asked for. Raises DatasetFault when one cannot be used."""
    for path, named in files(places):
        data = _bytes(path)
        if not named and not _is_set(data, path):
            yield Passed(file=str(path))
        else:
            yield _dataset(data, path)


def _bytes(path: Path) -> bytes:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            data = stream.read(LARGEST + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DatasetFault(f"{path} cannot be unpacked: {error}.", "Is the file whole, and gzipped?") from error
    except OSError as error:
        raise DatasetFault(f"{path} cannot be read: {error.strerror or error}.") from error
    if len(data) > LARGEST:
        raise DatasetFault(f"{path} holds more than {LARGEST // 1024**2} MiB of JSON.", "Divide it into several files.")
    return data


def _is_set(data: bytes, path: Path) -> bool:
    """Whether a file says itself that it is a set; a folder may hold other JSON."""
    try:
        return "namespaces" in _keys(data)
    except msgspec.ValidationError:
        return False
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DatasetFault(f"{path} is no JSON: {error}.", "Mend it, or move it out of the folder.") from error


def _dataset(data: bytes, path: Path) -> Dataset:
    try:
        found = _decode(data)
    except msgspec.ValidationError as error:
        raise DatasetFault(f"{path} is not of the form of a set: {error}.", FORMAT) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DatasetFault(f"{path} is no JSON: {error}.", FORMAT) from error
    for place, namespace in enumerate(found.namespaces):
        twice = next((one for one, times in Counter(str(doc.id) for doc in namespace.docs).items() if times > 1), None)
        if twice is not None:
            where = f"namespaces[{place}] ({namespace.ns})" if namespace.ns else f"namespaces[{place}]"
            raise DatasetFault(f"{path}: the document id {twice} occurs twice in {where}.", "Give each its own id.")
    if not any(namespace.queries for namespace in found.namespaces):
        raise DatasetFault(f"{path} holds no query.", FORMAT)
    return msgspec.structs.replace(found, file=str(path), name=found.name or path.name.partition(".")[0])
