"""The style sheet of the HTML report: light and dark, narrow and wide, screen and paper. ASCII, and nothing to load.

Colour never stands alone: every severity is also a word. Each pair of colours has a contrast of 4.5 or more.
"""

from typing import Final

STYLE: Final = """
:root { color-scheme: light dark;
  --page: #fff; --card: #f6f8fa; --line: #d0d7de; --text: #1b1f24; --faint: #57606a; --link: #0550ae;
  --ok: #1a7f37; --warn: #8a5a00; --critical: #b3121f; --on: #fff;
  --ok-band: #e6f4ea; --warn-band: #fdf1d4; --critical-band: #fde6e6; }
@media (prefers-color-scheme: dark) { :root {
  --page: #0d1117; --card: #161b22; --line: #3b434d; --text: #e6edf3; --faint: #a0aab4; --link: #79b8ff;
  --ok: #3fb950; --warn: #e3a52a; --critical: #ff8f88; --on: #0d1117;
  --ok-band: #12261a; --warn-band: #2b220c; --critical-band: #311618; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
header, main, footer { max-width: 72rem; margin: 0 auto; padding: 1rem; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100rem; padding: .5rem 1rem; background: var(--page); }
.skip:focus { left: 0; top: 0; z-index: 1; }
h1, h2, h3, p, dd, li { overflow-wrap: anywhere; }
td, th { overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .75rem; }
h3 { font-size: 1.05rem; margin: 0 0 .5rem; }
.verdict { padding: 1rem 1.25rem; border: 1px solid var(--line); border-left: .75rem solid; border-radius: .5rem;
  background: var(--card); }
.verdict p { margin: .25rem 0; }
.ok { border-color: var(--ok); } .warn { border-color: var(--warn); } .critical { border-color: var(--critical); }
.badge { display: inline-block; padding: .05rem .55rem; border-radius: 1rem; font-size: .85rem; font-weight: 600;
  color: var(--on); background: var(--faint); overflow-wrap: normal; }
.badge.ok { background: var(--ok); } .badge.warn { background: var(--warn); }
.badge.critical { background: var(--critical); }
.faint { color: var(--faint); }
.finding { margin: 0 0 1rem; padding: 1rem 1.25rem; border: 1px solid var(--line); border-left: .4rem solid;
  border-radius: .5rem; background: var(--card); break-inside: avoid; }
.finding.warn { border-left-color: var(--warn); } .finding.critical { border-left-color: var(--critical); }
.finding > p { margin: 0 0 .75rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: 0; }
dt { color: var(--faint); } dd { margin: 0; }
code { font: .9em/1.4 ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; color: var(--faint); padding-bottom: .5rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); }
thead th { color: var(--faint); font-weight: 600; }
tbody th { font-weight: 400; }
th code { white-space: nowrap; }
td:last-child { overflow-wrap: anywhere; }
.share { display: block; width: 100%; min-width: 4rem; height: .5rem; margin-top: .3rem; }
.share .room { fill: var(--line); } .share .used { fill: var(--ok); } .share .over { fill: var(--critical); }
.chart { display: grid; grid-template-columns: max-content 1fr; column-gap: .75rem; margin: 0; break-inside: avoid; }
.chart svg { display: block; width: 100%; height: 9rem; border: 1px solid var(--line); }
.levels { display: grid; grid-template-rows: repeat(3, 3rem); align-items: center; list-style: none; margin: 0;
  padding: 0; }
.band-ok { fill: var(--ok-band); } .band-warn { fill: var(--warn-band); } .band-critical { fill: var(--critical-band); }
.runs-ok { fill: var(--ok); } .runs-warn { fill: var(--warn); } .runs-critical { fill: var(--critical); }
.axis { grid-column: 2; display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem;
  color: var(--faint); font-size: .85rem; }
figcaption { grid-column: 1 / -1; margin-top: .5rem; }
footer { color: var(--faint); border-top: 1px solid var(--line); }
@media (max-width: 40rem) {
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; }
  th, td { padding-right: .4rem; font-size: .95rem; }
  th code { font-size: .8rem; } .badge { font-size: .8rem; padding: .05rem .4rem; }
  .finding, .verdict { padding: .75rem; } }
@media print {
  :root { --page: #fff; --card: #fff; --text: #000; --faint: #444; --line: #999; --link: #000; --on: #fff;
    --ok: #1a7f37; --warn: #8a5a00; --critical: #b3121f;
    --ok-band: #e6f4ea; --warn-band: #fdf1d4; --critical-band: #fde6e6; }
  body { font-size: 10pt; } .skip { display: none; } header, main, footer { max-width: none; padding: .5rem 0; }
  * { print-color-adjust: exact; } h2, h3 { break-after: avoid; } tr { break-inside: avoid; } }
"""
