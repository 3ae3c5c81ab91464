"""Who does the counting. Every engine gives equal `Counts` for the same sentences."""
