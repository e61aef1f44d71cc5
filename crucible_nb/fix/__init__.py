"""The reference-fix scorer: a run's diff against the fix that the scenario's author wrote."""
