"""What somebody who calculates for others considers meanwhile; placeholders and choices as in frames.py."""

from __future__ import annotations

#: on the rules, taken up by later replies
RULES = (
    "«Half a cent|A tie» «goes by|is settled by» {mode}, which I take from the helper and do not write again.",
    "«Rounding in between is forbidden unless said so|Nothing is rounded in between», so sums stay exact until their "
    "end.",
    "Results carry text, not numbers, «so no digit gets lost on the way|which keeps every digit».",
    "«{control_cap} covers only part of the figures|Not all figures are stated from outside»; the rest stands on the "
    "rules.",
)
#: each at most once a session
THOUGHTS = (
    "If {figure} of {unit} is right by luck it will be wrong next month, so I would rather know why than be done.",
    "A gap in one figure and none in the others «says more than a gap in all|narrows the search».",
    "{control_cap} can be wrong as well; but then I have to be able to say where.",
    "I keep the calculation in one place: a second formula for a special {noun} is where sheets start to rot.",
    "Whoever reads {script} next year should find each rule of {rules} at one spot, under its name.",
    "A rule that no {noun} has needed so far may still be missing; agreement on the others proves nothing about it.",
    "The order of roundings matters more than their number: sum then round is not round then sum.",
    "I do not widen a tolerance to make a comparison pass; a cent has a cause like everything else.",
    "Nothing is written to out/ before the comparison is clean, otherwise somebody picks up a draft.",
    "Signs first: most large gaps are a sign, most small ones a rounding, and the middling ones a date.",
    "A difference that divides evenly by a rate or a count usually names its own cause.",
    "Dates at the edge of the period are where {nouns} go wrong, so I look at the last days before {day} with care.",
    "«It is tempting to patch the figure|Patching the one figure would be quick»; the rule has to go into the script.",
    "Everything that I assume about {unit} should be readable from its files, not from my memory of others.",
    "The earlier {nouns} will be compared again at the end, since each change can break what agreed before.",
    "I would sooner print too much of the trail than guess; reading twenty lines is cheaper than a wrong theory.",
    "A plausible total is the most dangerous kind of wrong, for nobody looks at it twice.",
    "What {boss} needs is a figure that can be defended, with the rule behind it and the rows under it.",
    "The helpers round {mode}; I use them throughout and never call quantize by hand.",
    "If two readings of a rule are possible, the stated figure decides, and the notes should say so.",
    "Data stays as delivered: where a row looks wrong I report it and do not touch it.",
    "Names in the files are the keys of the result, so a typo there would be a missing {noun}.",
    "The script must not depend on the order of rows unless the rules give them one.",
    "A test with round numbers would pass with half of the rules missing; real figures of {unit} are better.",
    "Small {nouns} deserve the same care: the rule that they show may be worth far more elsewhere.",
    "I write down what I expected before I look, or I will believe whatever comes out.",
    "«The exit code of the comparison is part of the deal|The comparison has to fail loudly»: a later change must not "
    "slip past it.",
    "Should {figure} be off by a whole row I will see it at once; off by a rounding I will not, hence the machine.",
    "Half of the work is to notice which rows of {unit} a loop would treat alike although the rules do not.",
    "Exceptions in {rules} are short sentences with long consequences; I read them as if each were about {unit}.",
    "Floats would be good enough until the first tie; then nobody could say which side is right.",
    "An empty list of gaps is only worth something if the list would not have been empty before.",
)
