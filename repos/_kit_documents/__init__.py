"""What the document templates share: papers in every format, the repository around them, and the way an agent works.

paper      one file of the papers folder, in each format;  printing: running text and tables over the pages of a PDF
noise      papers that have nothing to do with the question
house      the office, its people and the names in its code;  furniture: README, rules, helper code, history
path       the recorded way to the solution: beats become steps of the length that a size asks for;  talk: what is said
code       templates of code, and edits that turn one version into another
truth      the check of the result, and results that are wrong
case       puts the parts of one instance together into a task
files/     text of all these
"""
