"""Who can be asked, and who should be: presets and their quirks, facts about models, keys, health. Pure.

No clock, no environment, no I/O: time is an argument, keys are names, and secrets come from whoever may read them.
"""
