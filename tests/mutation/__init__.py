"""A search for blind spots of the checks: each component's reference code, changed in one place.

reference   the components as solutions/ has them
sites       where their source may be changed
operators   into what
mutants     all that this makes of a source
trial       the check on each mutant, in a process of its own
survivors   mutants that pass and may, with the reason
run         the command
"""
