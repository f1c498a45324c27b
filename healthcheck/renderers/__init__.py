"""A report in, text out. Nothing here touches a file, a clock or an environment.

`json_v1` (shapes in `shapes_v1`) for programs, `text` for people, `html` for people with a browser (its picture
in `html_chart`, its style in `html_style`), `nagios` for its plugins' protocol, `prometheus` for the textfile.
"""
