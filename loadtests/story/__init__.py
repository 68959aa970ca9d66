"""From 10 to 35 sessions on a card, one optimisation at a time: what each step gives, measured or modelled."""
