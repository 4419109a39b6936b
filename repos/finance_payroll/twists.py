"""Rules of a payroll that a first script misses, each shown by months that are drawn for it."""

from __future__ import annotations

from .._kit_finance.case import Twist

TWISTS = (
    Twist(
        "days",
        "joining or leaving within the month",
        "who joins or leaves within the month earns the salary times the calendar days employed over the days of the "
        "month, first and last day included, rounded.",
        "{movers} people of {unit} came or went within the month, {mover} among them, and I pay them for all "
        "{month_days} days.",
        "Their salary is cut to the days between `{k_joined}` and `{k_left}`.",
        "calendar days employed",
    ),
    Twist(
        "ceiling",
        "ceiling of contributions",
        "social contributions, ours and the employer's, are due on gross pay up to the ceiling of a month and on "
        "nothing above it.",
        "The ceiling is {ceiling} a month and {above} people of {unit} earn more. I charge contributions on all of it.",
        "What is insured is gross pay or the ceiling, whichever is lower.",
        "up to the ceiling",
    ),
    Twist(
        "step",
        "steps of the tax base",
        "with `{k_table}` B the tax base is cut down to a full {step} before the tax is looked up; with A it is not.",
        "{stepped} people of {unit} are on table B and their tax is a little too high: the base has to be cut down to "
        "a full {step} first, and I take it to the cent.",
        "For table B the remainder of the base is dropped before the tax.",
        "cut down to a full",
    ),
    Twist(
        "premium",
        "premium of overtime",
        "overtime is paid with a premium of a quarter, rounded by itself; the premium bears contributions and no tax.",
        "Overtime in {unit}: {hours} hours. Their premium is free of tax, and it sits in my tax base.",
        "The premium is taken out of the base; contributions stay as they are.",
        "premium of a quarter",
    ),
    Twist(
        "bonus",
        "bonuses",
        "a bonus is no part of the monthly base: its tax is the tax of the yearly base with it less the tax without "
        "it, rounded.",
        "{bonuses} people of {unit} get a bonus, the largest {bonus}. I treat it as if it came every month.",
        "Base without the bonus, then the yearly difference on top.",
        "tax of the yearly base",
    ),
    Twist(
        "back",
        "raises paid later",
        "`{k_raises}` is the number of past months for which `{k_raised}` is still owed; it is paid with this month "
        "and taxed like salary.",
        "Raises of {unit} were agreed late, {raises} people wait for theirs. I read the columns and paid nothing.",
        "Months times amount join the gross pay of this month.",
        "past months",
    ),
    Twist(
        "advance",
        "advances",
        "an advance was paid out already and lowers what is paid now; it changes neither tax nor contributions.",
        "{advances} of {unit} had an advance, {advance_sum} in all, which I would pay a second time.",
        "The advance comes off the net pay, after everything else.",
        "paid out already",
    ),
    Twist(
        "coin",
        "pay at the desk",
        "where `{k_desk}` is yes, net pay is rounded to the smallest coin, {coin}, ties like amounts.",
        "{desks} people of {unit} are paid at the desk, where there is no coin below {coin}. Their net pay is to the "
        "cent with me.",
        "Net pay of the desk is brought to the nearest coin, last of all.",
        "smallest coin",
    ),
)
