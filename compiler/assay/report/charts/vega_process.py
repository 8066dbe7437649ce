"""The chart converter process: reads a line of JSON, writes a line of JSON, until its input ends.

    python vega_process.py FONTS_FOLDER VEGA_LITE_VERSION

In: `{"spec": "<Vega-Lite JSON>"}`.  Out: `{"svg": "..."}`, or `{"error": "..."}` where the converter refuses it.
In: `{"typical": "<Vega-Lite JSON>"}`.  It is drawn, but nothing is written.
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

    def draw_svg(spec: str) -> str:
        return str(vl_convert.vegalite_to_svg(spec, vl_version=vega_lite, allowed_base_urls=[]))

    for line in sys.stdin:
        request = json.loads(line)
        if "typical" in request:
            draw_svg(request["typical"])
            continue
        try:
            answer = {"svg": draw_svg(request["spec"])}
        except (ValueError, RuntimeError) as error:
            answer = {"error": str(error)}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    os._exit(0)  # there is nothing to clean up, and a regular exit is slow


if __name__ == "__main__":
    main()
