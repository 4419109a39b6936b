"""Document parsing: an inbox of invoices, contracts, confirmations, logs and exports, to be turned into checked JSON.

world      who trades with whom, every document's facts, and the planted deviations: the ground truth
layouts    languages, number and date styles and column orders in which the suppliers print
papers     facts -> PDF, DOCX, XLSX, CSV and HTML bytes;  clauses, leaflets: what else stands in them
brief      what is asked for: field names, formats, the schema, README and the request itself
bench      the code that is in the repository already, and the code that the agent writes
story      the recorded way to the solution;  talk: what the agent says on the way
"""
