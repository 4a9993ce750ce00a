"""Budgets, events and their cost: no arrays and no records in here."""
