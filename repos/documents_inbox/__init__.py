"""Document parsing: an inbox of invoices, contracts, confirmations, logs and exports, to be turned into checked JSON.

world      the facts of every document;  trade: makes them from a seed, with the planted deviations
layouts    languages, number and date styles and column orders in which the suppliers print
invoices, clauses, exports, leaflets      facts -> PDF, DOCX, HTML, XLSX and CSV, and what else lies in an inbox
brief      what is asked for: field names, formats, folders;  truth: the right answers
setting    README, schema, rules, history and the request in words
bench      the code that is in the repository already;  scripts: what the agent writes, with or without its slips
story, chapters, ledgers, findings      the recorded way to the solution;  talk: what the agent says on the way
files/     grammars (YAML) and code templates
"""
