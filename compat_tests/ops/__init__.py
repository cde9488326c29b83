"""The sweep over PyTorch's own operator table (``op_db``): every operator, on torch and on jaxflow.

For each record and dtype the same samples go to both, and what comes back is compared: values, gradients,
second gradients, methods and operators, in-place and ``out=`` forms, views and what they share, errors, and
the three executors. ``python -m compat_tests.ops --help`` says how to run it.

NOTE [Ledger]
    A *unit* is one check of one record in one dtype. The sweep writes down for every record which units
    ran and which failed, with the first reason: ``compat_tests/ops/ledger.jsonl``, a line a record. From
    it ``docs/compatibility.md`` is printed, and nothing else is claimed. `make compat` runs some of the
    units again, of all records with the same samples: all checks in float32, and in one more dtype those
    that depend on it. A test fails where a unit fares otherwise than the ledger says, in either direction.
    CI runs these tests of every record.

    Numbers of low precision are judged by PyTorch in double precision, so that a line says the same on any
    processor: NOTE [Judged by float64] in `compat_tests.judge`.
"""

from compat_tests import setting  # noqa: F401  before jaxflow is imported
