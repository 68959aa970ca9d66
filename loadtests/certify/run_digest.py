"""The digest of all that was measured in a run, by which a certificate is bound to it."""

from hashlib import sha256

from loadtests.run_folder import RunFolder


def run_digest(folder: RunFolder) -> str:
    """Of the drill, the facts, and every row and sample. What is made of them may be made anew."""
    measured = [folder.drill, folder.facts, folder.events, folder.replicas, folder.processes]
    whole = sha256()
    for file in [*measured, *folder.all_rows(), *folder.all_lag()]:
        content = file.read_bytes() if file.exists() else b""
        whole.update(f"{file.name} {len(content)}\n".encode())
        whole.update(content)
    return whole.hexdigest()
