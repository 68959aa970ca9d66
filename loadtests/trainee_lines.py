"""What a scripted trainee says; any line can follow any other."""

LINES = (
    "Good morning, thank you for waiting. How can I help you today?",
    "I understand. Could you tell me what happened, from the beginning?",
    "I am sorry about that. May I have the order number, please?",
    "Thank you. Let me look that up while we speak.",
    "I see the order here. When did you last hear from us about it?",
    "That should not have happened, and I will find out why it did.",
    "Let me sum up what I have understood so far, so that nothing is lost.",
    "Would a new delivery date help you, or would you rather have the money back?",
    "I can offer you the express fee back today. What else would make this right?",
    "What would you need from me to feel that this is settled?",
    "I will confirm all of this in an e-mail within the hour. Is the address still right?",
    "Is there anything else that I have not asked you yet?",
)


def line(trainee: int, turn: int, *, run: int) -> str:
    """The line of this trainee's turn; trainees begin at different lines, so that their sessions differ.

    No two trainees say the very same, nor does one in two runs, or a replica would find one's history in its cache that
    another one left there.
    """
    return f"{LINES[(trainee * 5 + turn) % len(LINES)]} My reference is {run:05d}-{trainee + 1}-{turn}."
