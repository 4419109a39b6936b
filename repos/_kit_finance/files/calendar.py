"""«Months and month ends|Date arithmetic of the workings|Due dates» for $firm."""

from datetime import date, timedelta


def $f_last($day):
    """«The last day of the month|End of the month» that `$day` lies in."""
    following = date($day.year + $day.month // 12, $day.month % 12 + 1, 1)
    return following - timedelta(days=1)


def $f_shift($day, months):
    """«The same day some months later|`months` later, earlier when negative»; «a day that the month lacks becomes its last|31 becomes 30 or 28 where needed»."""
    year, month = divmod($day.year * 12 + $day.month - 1 + months, 12)
    return date(year, month + 1, min($day.day, $f_last(date(year, month + 1, 1)).day))
