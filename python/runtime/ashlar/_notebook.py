# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A module as a notebook shows it."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Sequence

from ._errors import Error
from ._sizes import byte_text

if TYPE_CHECKING:
    from ._module import Module


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    return "<table>" + "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row)
        + "</tr>" for row in rows) + "</table>"


def module_html(module: "Module") -> str:
    """Its entries, its contract, what lies where in memory, and its graph; the
    last two where its sizes are fixed."""
    parts = [f"<h4>{html.escape(module.name)}: {html.escape(module.target)} on "
             f"{html.escape(module.device)}</h4>"]
    for entry in module.entries.values():
        parts.append(_table(
            [(entry.name, "input", info.name, info.type, info.shape_text)
             for info in entry.inputs]
            + [(entry.name, "output", info.name, info.type, info.shape_text)
               for info in entry.outputs]))
        cost = entry.contract
        parts.append(_table([
            ("weights", byte_text(cost.weights_bytes)),
            ("code", byte_text(cost.code_bytes)),
            ("arena", f"{byte_text(cost.arena_bytes)} (no plan needs less than "
                      f"{byte_text(cost.arena_lower_bound_bytes)})"),
            ("outputs", byte_text(cost.outputs_bytes)),
            ("staging", byte_text(cost.staging_bytes)),
            ("scratch of a thread", byte_text(cost.scratch_bytes_per_worker)),
            ("all", byte_text(cost.peak_bytes))]))
    try:
        picture, page = module.memory_map(), module.graph()
    except Error as error:
        return "".join(parts) + f"<p>{html.escape(str(error))}</p>"
    parts.append("<details><summary>What lies where in the arena, and when"
                 f"</summary>{picture}</details>")
    parts.append("<details><summary>Kernels and what they exchange</summary>"
                 f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts"'
                 ' style="width:100%;height:480px;border:0"></iframe>'
                 "</details>")
    return "".join(parts)
