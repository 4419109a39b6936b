"""What the agent says at each stage. {placeholders} are filled with names and figures of the unit at hand, «a|b» is
chosen by the session; a sentence comes back only when all of its stage had their turn."""

from __future__ import annotations

SAYS: dict[str, tuple[str, ...]] = {
    "look": (
        "«I start with the lie of the land|First an overview»: {count} {nouns} are asked for and some figures are "
        "stated from outside. A full listing shows what lies under {data}/, which helpers exist, and what belongs to "
        "other work.",
        "Before anything else I list the repository. «The request names|I was pointed to» {rules} and {controls}; I "
        "want to see where the {nouns} lie and which folders «have nothing to do with it|are older papers».",
    ),
    "readme": (
        "Several folders hold papers of other work, «minutes, travel, price lists|lists and minutes». The README "
        "should say what counts here and how scripts are run.",
        "«Plenty of files that do not matter|Most of this is not for us». README.md next, for the layout and the way "
        "scripts are started.",
    ),
    "rules": (
        "Scripts run as modules, results go to out/. Now {rules}, every section: «rounding, day counts and exceptions "
        "decide about cents|what is rounded when is what I will be measured by».",
        "The layout is clear. «The rules in full|I read the rules to their end» before any data: {rules} decides "
        "which figure is right when two look plausible.",
    ),
    "outline": (
        "Money is rounded {mode}. «Which helpers are there|What do the helpers offer»? An outline of {pkg}/ gives the "
        "signatures without the bodies.",
        "«Noted|Good to know»: {mode}, decimals throughout. The helpers in {pkg}/ come next; their names will do for "
        "now.",
    ),
    "helper": (
        "Three small modules. I read the one «that I will lean on most|whose edge cases matter», since a helper that "
        "rounds or shifts otherwise than I think would spoil everything.",
        "The signatures are plain. One of them I read in full to be sure of «its edge cases|what it does at the "
        "edges».",
    ),
    "helper_tests": (
        "«Are they green|Do the tests pass» as delivered? If a helper were broken I would want to know it now and not "
        "after {count} {nouns}.",
        "Before I build on them I run the helpers' tests once, «as they were handed over|in the state of the "
        "delivery».",
    ),
    "shared": (
        "`{path}` «is shared by all {nouns}|serves every {noun}», so I read it before the first of them: column "
        "names, dates, and whether anything in it is ambiguous.",
        "«One table concerns all of them|There is common data as well»: `{path}`. Names of columns and the notation "
        "of numbers matter for the script.",
    ),
    "data": (
        "Now {unit}. I read `{file}` from top to bottom: «what is stated, what has to be worked out|which rows count "
        "and which only inform».",
        "«Next is|On to» {unit}, `{file}`. {control_cap} has {right} for its {figure}; «I want to see the rows behind "
        "that|the rows have to carry that».",
        "{unit} «comes next|is the next one». Before I run anything I look at `{file}`: «surprises in the data are "
        "cheaper before than after|whatever is unusual should be seen first».",
        "«The file of|Data for» {unit}: `{file}`. I compare it in my mind with the ones before, «the odd row is what "
        "counts|looking for rows of another kind».",
    ),
    "more_words": (
        "There is a second paper on {unit}, `{path}`. «What does it add to the table|It may hold a condition»?",
        "`{path}` belongs to {unit} as well. «Papers in words tend to hold the exceptions|Words beside numbers "
        "usually mean an exception», so I read it, too.",
        "«The numbers are one half|So far the numbers»; `{path}` has the terms of {unit} in words.",
    ),
    "more_rows": (
        "`{path}` has the rows that go with it. «I read them once in full|All of them, once»: kinds, signs, dates, "
        "and whatever is not like the rest.",
        "The other half of {unit} is `{path}`. «Rows next|Now the rows»; sums come later, oddities first.",
        "That was the frame; `{path}` «fills it|has what happened». I look for rows that a simple loop would get "
        "wrong.",
    ),
    "search": (
        "«Is {unit} mentioned anywhere else|Where else does {unit} appear»? A search under {data}/ tells me whether "
        "another delivery holds something about it.",
        "I search {data}/ for {unit} «so that no second file is missed|to be sure that nothing lies in another file».",
    ),
    "script": (
        "That is enough to write {script}. `{f_load}` gathers one {noun}, `{f_figures}` gives its figures, and a "
        "detail option shows how they come about, «which I will need as soon as something differs|for the moment when "
        "a figure is doubted».",
        "«Now the script|I write it down now»: {script}, one function to load a {noun}, one for the figures, one for "
        "the trail behind them. Every rounding sits where {rules} puts it.",
    ),
    "first_run": (
        "A first run on {unit} alone, «nothing is written yet|without writing anything»: does it run at all?",
        "«Does it start|Let me see whether it runs»? Only {unit}, no output file.",
    ),
    "run": (
        "I run {unit} through the script as it stands. {figure} «should come out near|ought to be close to» {right}, "
        "if the rules are applied as I read them.",
        "«The figures of|What does the script make of» {unit}? My expectation for {figure}: {right} or close to it.",
        "A run for {unit}. «I look at the order of magnitude first|Magnitude first, cents later»; {right} is what "
        "{control} has for {figure}.",
    ),
    "run_detail": (
        "This time with the trail: {unit} line by line, «to see the rule at work and not only its result|so that I "
        "see how the figure grows». It has to end at {right} for {figure}.",
        "«For {unit} I want the steps|The steps of {unit}, not only the sums»; at the end {figure} should be {right}.",
    ),
    "controls": (
        "«Plausible is not agreed|So far only plausible». `{controls}` holds what {control} states; I read it before "
        "I compare by machine, for its names and for which figures it covers.",
        "The other side is in `{controls}`. «I read it once|A look first», so that I know which figures are stated "
        "and which I have to prove by other means.",
    ),
    "compare_write": (
        "By eye this is how errors slip through. A short script prints ours, the stated figure and the gap, {unit} "
        "first; {figure} must come to {right}.",
        "I write the comparison «as a script of its own|down as a small program» and give it an exit code, so that "
        "the last run can fail loudly. {unit} is stated with {right} for {figure}.",
    ),
    "agrees": (
        "«Against {control}|The comparison for» {unit}: nothing in its data looks new, so I expect no gap, {figure} "
        "at {right}.",
        "{unit} «holds nothing that I have not met before|has no new kind of row as far as I can see». The comparison "
        "should be clean; if it is not I have misread it.",
        "Now the stated figures of {unit}. {right} for {figure} «should be met to the last digit|must come out "
        "exactly».",
    ),
    "compare": (
        "Ours against {control} for {unit}. «I am not sure about|My doubt is with» {figure}: the data has something "
        "that the others did not have.",
        "«The comparison for|Now» {unit}: {stated} is stated for {figure}. Something in its papers «made me pause|was "
        "different», so I expect to learn something.",
        "I set {unit} beside the stated figures. If anything is missing in the script it «will show here|must show "
        "now», {figure} first of all.",
    ),
    "detail": (
        "{gaps} «of its figures differ|figures are off»: {figure} is {ours} with us and {stated} there, {gap} apart. "
        "The trail of {unit} should show «which line makes the difference|where it comes from».",
        "A gap of {gap} in {figure}. «Too regular for chance|That is no typing error»; I print the steps behind "
        "{ours} and look for the line that does not belong.",
        "{ours} against {stated}. «Before I touch the code I want the cause|Cause first, change later»: the detail of "
        "{unit}, line by line.",
    ),
    "section": (
        "{figure} is off by {gap}. «What do the rules say exactly|The exact words count now»? I read the section on "
        "it again rather than trust my memory.",
        "«Ours {ours}, theirs {stated}|{ours} here, {stated} there». Either they or I have the rule wrong, so I look "
        "the rule up in {rules}.",
    ),
    "search_rules": (
        "{gap} too much or too little. I search {rules} for the word that {unit} brought up, «to find the sentence "
        "that I passed over|since I must have passed over a sentence».",
        "«Somewhere the rules must speak of this|There was a sentence on this». A search in {rules}, because {ours} "
        "instead of {stated} is a rule and no accident.",
    ),
    "again": (
        "I look at the changed place once more, in its surroundings: «nothing else may have moved|only what I meant».",
        "The change in place, to be sure that «the other cases still take their old way|nothing else is touched».",
    ),
    "compare_again": (
        "With that {unit} should agree: {stated} for {figure}, and no gap in the rest. «The same comparison "
        "again|Again».",
        "«The proof|Does it close the gap»? I expect {stated} and not a cent of the {gap} left.",
        "The comparison for {unit} once more. If {gap} was all due to this rule, it is gone now.",
    ),
    "test": (
        "A rule that was missed once deserves a test: {twist}, on the figures that {control} states for {unit}.",
        "«No gap is left|It agrees». So that it stays that way I pin {unit} down in a test, {figure} at {stated}.",
        "I keep this as a test, «named after the rule|under the rule's name», with {stated} and the other stated "
        "figures.",
    ),
    "test_first": (
        "«I write the test before the change|Test first this time»: {unit} has to give {stated} for {figure}. It must "
        "fail now, with {ours}.",
        "Before I touch the script I put {unit} into a test, {twist}: it «should be red now and green after|has to "
        "fail first».",
    ),
    "test_fails": (
        "Red is what I want to see: {ours} instead of {stated}. «If it passed|A pass here would mean that» the test "
        "tests nothing.",
        "I run only this test. It should report {ours}, «the wrong figure of now|as the script has it today».",
    ),
    "test_again": (
        "«Now it has to be green|The same test after the change»: {stated} for {figure} of {unit}.",
        "And the test again. «{stated} is the figure that counts|It passes only with {stated}».",
    ),
    "test_run": (
        "The new test alone, {unit} with {stated}; the others did not change.",
        "I run just this one. «A typo in the expected figures would show|If I copied a figure wrongly it shows» here.",
    ),
    "trail": (
        "A last look at the trail of {unit}: «do the lines add up to|the lines must lead to» {right}?",
        "For the record I print the end of the trail of {unit}, «where the sums are|as a reader would check it», "
        "{figure} {right}.",
    ),
    "probe": (
        "«By another road|A second method»: a few lines that do not use the script at all, only the data of {unit}. "
        "Whatever they print has to fit {right} for {figure}.",
        "I do not want to compare the script with itself. A short calculation from the raw rows of {unit}, «by "
        "hand|without the helpers», should arrive at the same place.",
        "«A cross-check from scratch|Independently of {script}»: the rows of {unit}, exact fractions, one print.",
    ),
    "note": (
        "{unit} goes into {notes}: all figures, «what was stated from outside|which of them are agreed», and what its "
        "data looked like.",
        "A paragraph for {notes} while I still know the rows of {unit}; {figure} is {right}.",
        "«For the file|So that others can follow»: the figures of {unit} and what they rest on, into {notes}.",
        "I add {unit} to {notes}, «in the order of the request|as the request wants it».",
    ),
    "all_agree": (
        "All {count} {nouns} are through. The comparison over everything, gaps only: «it must come back empty|nothing "
        "may be listed», also for the ones that I did before the later changes.",
        "«Did a later change break an earlier one|The early ones have seen an older script»? All {count} once more, "
        "only what differs.",
    ),
    "write": (
        "«No gap anywhere|Everything agrees», so {results} is written now, from one run over all {nouns}.",
        "Now the result: one run, all {count}, into {results}. {unit} should be in it with {right}.",
    ),
    "results_read": (
        "I read {results} as the next reader gets it: every {noun} there, numbers as text, {figure} of {unit} {right}.",
        "«A look into the file itself|The file, not my memory of it»: names, keys, decimals.",
    ),
    "report": (
        "Then {report}: one line a {noun}, with separators, and which rules «made a difference|needed care». {boss} "
        "should not have to open the JSON.",
        "«The short paper|Now the report», {report}: the table that was asked for and a few words on what was agreed.",
    ),
    "last_tests": (
        "All tests once more, helpers and mine, «with the tree as it is handed over|in the final state».",
        "One last run of the whole suite, buffered. «It rests on the final script|The script has changed since some "
        "of them ran».",
    ),
    "status": (
        "What did I touch? {data}/ «must not show up|may not appear», only new files under the script folder, tests "
        "and out/.",
        "git's view before I finish: new files only, «nothing delivered was changed|the deliveries untouched».",
    ),
    "finish": (
        "Only new files, «as it should be|nothing of the deliveries». Everything that was asked for is there; I close "
        "with the figures.",
        "«The tree is as wanted|That is clean». A short summary for {boss}.",
    ),
    "result": (
        "All {count} {nouns} are worked out and agree with {control}: {heads}. Figures are in `{results}`, the table "
        "in `{report}`, the calculation in `{script}` with tests beside it.",
        "`{results}` holds {count} {nouns}, without any difference to {control}: {heads}. `{report}` has the table; "
        "`{script}` can be run again at any time.",
    ),
}

#: what is said when a script that stops at once is mended
SLIPS = {
    "import": "«A name that I use and do not import|The traceback is plain»: `{lost}` is missing from the import of "
    "the table helpers. {unit} was the first to need it; «nothing else is wrong so far|one line».",
    "module": "«No such module|The module is called otherwise»: I wrote the helper's name with an s at its end. The "
    "import is put right, the rest of the script stays; {unit} again after that.",
    "name": "«A NameError at the very end|It gets as far as the figures»: the call in `main` has an s too many, the "
    "function is `{f_figures}`. {unit} will show whether that was all.",
}
