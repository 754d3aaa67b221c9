"""Compares the screenshots of a run with the accepted screenshots."""

import functools
import json
import shutil

try:
    from PIL import Image, ImageChops, ImageDraw
except ImportError:
    Image = None

from browser import masks
from support import PICTURES, failures

# The share of the pixels that may differ, by more than the given difference of a color.
TOLERANCE, COLOR = 0.0002, 40


def compare(accepted, accepts):
    """Compares the screenshots with the accepted screenshots, except for the masked rectangles of both."""
    if not Image:
        print("look: skipped the comparison of screenshots, because Pillow is missing (Debian: python3-pil).")
        return
    accepted.mkdir(parents=True, exist_ok=True)
    for name, rectangles in masks.items():
        new, old, old_masks = PICTURES / f"{name}.png", accepted / f"{name}.png", accepted / f"{name}.json"
        if old.exists() and not accepts:
            share = difference(name, new, old, rectangles + json.loads(old_masks.read_text()))
            if share > TOLERANCE:
                failures.append(f"{name} differs from {old} in {share:.2%} of its pixels. If the difference is"
                                " expected, accept it with --accept")
            continue
        shutil.copyfile(new, old)
        old_masks.write_text(json.dumps(rectangles))
    print(f"look: compared {len(masks)} screenshots with {accepted}")


def difference(name, new, old, rectangles):
    """Returns the share of the pixels that differ, and writes a picture of them."""
    pair = [Image.open(path).convert("RGB") for path in [new, old]]
    if pair[0].size != pair[1].size:
        return 1
    for image in pair:
        for rectangle in rectangles:
            ImageDraw.Draw(image).rectangle(rectangle, fill="black")
    channels = ImageChops.difference(*pair).split()
    strongest = functools.reduce(ImageChops.lighter, channels).point(lambda value: 255 if value > COLOR else 0)
    share = strongest.histogram()[255] / (strongest.width * strongest.height)
    if share > TOLERANCE:
        red = Image.new("RGB", pair[0].size, "red")
        Image.composite(red, pair[0], strongest).save(PICTURES / f"{name}-difference.png")
    return share
