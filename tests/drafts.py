"""Model files taken apart, changed, and put together with checksums that are right."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from dataclasses import dataclass
from typing import Any

from corate.storage import archive, modelfile


@dataclass
class Draft:
    """What a model file is made of, to be changed."""

    manifest: dict[str, Any]
    members: dict[str, bytes]

    @classmethod
    def of(cls, data: bytes) -> Draft:
        with zipfile.ZipFile(io.BytesIO(data)) as opened:
            members = {name: opened.read(name) for name in opened.namelist()}
        return cls(json.loads(members.pop(archive.MANIFEST)), members)

    @property
    def header(self) -> dict[str, Any]:
        found: dict[str, Any] = self.manifest["header"]
        return found

    def array(self, name: str) -> modelfile.Array:
        return modelfile._array(name, memoryview(bytearray(self.members[name])))

    def put(self, name: str, array: modelfile.Array) -> None:
        self.members[name] = b"".join(modelfile._npy(array))

    def data(self, list_all: bool = True) -> bytes:
        """A file with checksums that are right; all members are listed, or those that were."""
        manifest, listed = dict(self.manifest), self.manifest.get("members")
        if isinstance(listed, dict):  # it may have been changed to something else
            names = self.members if list_all else listed
            data = {name: self.members.get(name, b"") for name in names}
            block = manifest["block"] if type(manifest.get("block")) is int else archive.LEAST_BLOCK
            found = {name: archive.digests([data[name]], max(1, block)) for name in data}
            manifest["members"] = {name: {"sha256": found[name]} for name in data}
        buffer = io.BytesIO()
        pieces: dict[str, modelfile.Member] = {name: [data] for name, data in self.members.items()}
        modelfile.write_archive(buffer, {archive.MANIFEST: [json.dumps(manifest).encode()], **pieces})
        return buffer.getvalue()


def sealed(data: bytes) -> bytes:
    """With a digest that is right."""
    body = data[: -archive.DIGEST_LENGTH]
    try:
        source = archive.InMemory(data)
        return body + archive.seal(source, archive.spans_of(source))
    except Exception:  # of what is no archive any more, nothing is sealed
        return data


def overlapping(data: bytes) -> bytes:
    """Every member of the directory has the bytes of the largest one, under other names in the manifest."""
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        infos = {info.filename: info for info in opened.infolist()}
    changed = bytearray(data)
    largest = max(infos.values(), key=lambda info: info.file_size)
    place = data.index(b"PK\x01\x02")
    while data[place : place + 4] == b"PK\x01\x02":
        name_length, extra, comment = struct.unpack_from("<HHH", data, place + 28)
        name = data[place + 46 : place + 46 + name_length].decode()
        if name != archive.MANIFEST:
            changed[place + 16 : place + 28] = struct.pack(
                "<III", largest.CRC, largest.file_size, largest.file_size
            )
            changed[place + 42 : place + 46] = struct.pack("<I", largest.header_offset)
        place += 46 + name_length + extra + comment
    return sealed(bytes(changed))
