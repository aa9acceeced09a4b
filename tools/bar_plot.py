"""Horizontal bars in SVG, for light and dark pages: what the plots of docs/ have in common."""

STYLE = """
    text { fill: #1f2328 } .note { fill: #59636e } .title { font-size: 15px; font-weight: 600 }
    .ours { fill: #2da44e } .theirs { fill: #8c959f } line { stroke: #d0d7de }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 } .note { fill: #9da7b3 }
      .ours { fill: #3fb950 } .theirs { fill: #6e7681 } line { stroke: #30363d }
    }
  """


class BarPlot:
    """Bars from x = left on, under each other; `scale` is a unit's width."""

    def __init__(self, title, left, scale, thickness):
        self.left, self.scale, self.thickness = left, scale, thickness
        self.lines = []
        self.text(10, 22, title, "title")

    def text(self, x, y, words, kind="", anchor="start"):
        self.lines.append(f'  <text x="{x:.0f}" y="{y:.0f}" class="{kind}" text-anchor="{anchor}">{words}</text>')

    def bar(self, y, value, kind, words):
        width = value * self.scale
        self.lines.append(f'  <rect x="{self.left}" y="{y:.0f}" width="{width:.1f}" height="{self.thickness}" class="{kind}"/>')
        self.text(self.left + width + 6, y + 11, words)

    def key(self, x, kind, words):
        """The legend of a kind of bars."""
        self.lines.append(f'  <rect x="{x}" y="35" width="{self.thickness}" height="{self.thickness}" class="{kind}"/>')
        self.text(x + 19, 46, words)

    def axis(self, ticks, top, bottom):
        """`ticks` are pairs of a value and its words."""
        for value, words in ticks:
            x = self.left + value * self.scale
            self.lines.append(f'  <line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}"/>')
            self.text(x, bottom + 16, words, "note", "middle")

    def svg(self, width, height):
        head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="system-ui, sans-serif" font-size="12">'
        return "\n".join([head, f"  <style>{STYLE}</style>", *self.lines]) + "\n</svg>\n"


def write_or_check(picture, drawn, tool, check):
    """Writes the picture, or with `check` says whether it is the one that the figures give; the exit status."""
    if not check:
        picture.write_text(drawn)
        return 0
    same = picture.exists() and picture.read_text() == drawn
    print(f"docs/{picture.name} {'shows' if same else 'is not'} what docs/performance.md says" + ("" if same else f": run {tool}"))
    return 0 if same else 1
