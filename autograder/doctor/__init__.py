"""`autograder doctor gpt2.py`: train a small model of the file for a minute and say what is wrong.

Probes run the file and return plain data (numbers, lists, strings); judges take that data only and
conclude. A finding rests on a measured contradiction: what is merely unusual is not one.
"""
