"""Operations declared, and plans: an operation inferred for the avals and options that it was called with."""
