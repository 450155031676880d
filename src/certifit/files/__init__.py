"""Tables and model files: read a table, save a model with its proof, load it without running anything."""

from certifit._atomic import write_atomic
from certifit.exceptions import ExportError, ModelFileError, TableError
from certifit.files._code._export import to_code
from certifit.files._onnx._export import to_onnx
from certifit.files._read import Table, read_table
from certifit.files._save import (
    certificates_of,
    from_bytes,
    is_ours,
    load,
    load_foreign,
    save,
    to_bytes,
    verify,
    verify_model,
)
from certifit.files._schema import Column, Reading, Schema, Target
from certifit.files._table_model import TableModel

__all__ = [
    "Column",
    "ExportError",
    "ModelFileError",
    "Reading",
    "Schema",
    "Table",
    "TableError",
    "TableModel",
    "Target",
    "certificates_of",
    "from_bytes",
    "is_ours",
    "load",
    "load_foreign",
    "read_table",
    "save",
    "to_bytes",
    "to_code",
    "to_onnx",
    "verify",
    "verify_model",
    "write_atomic",
]
