"""Reports: pure functions of what a run found.

formats/          a module a format, and the table of them
json_report.py    the JSON of convert and verify, written and read again
audit_parts.py    what several formats show of an audit
terminal.py       what convert prints
pages.py          the page of every rule
"""
