"""The chart converter as a process of its own: a line of JSON in, a line of JSON out, until its input ends.

    python vega_process.py FONTS_FOLDER VEGA_LITE_VERSION

In: `{"spec": "<Vega-Lite JSON>"}`.  Out: `{"svg": "..."}`, or `{"error": "..."}` where the converter refuses it.
In: `{"typical": "<Vega-Lite JSON>"}`.  It is drawn, and nothing comes out.
No data, image or font is fetched from anywhere.
"""

from __future__ import annotations

import json
import os
import sys


def main() -> None:
    """Answer every line."""
    import vl_convert

    fonts, vega_lite = sys.argv[1:]
    vl_convert.register_font_directory(fonts)

    def drawn(spec: str) -> str:
        return str(vl_convert.vegalite_to_svg(spec, vl_version=vega_lite, allowed_base_urls=[]))

    for line in sys.stdin:
        asked = json.loads(line)
        if "typical" in asked:
            drawn(asked["typical"])
            continue
        try:
            answer = {"svg": drawn(asked["spec"])}
        except (ValueError, RuntimeError) as error:
            answer = {"error": str(error)}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    os._exit(0)  # there is nothing to put in order, which takes long


if __name__ == "__main__":
    main()
