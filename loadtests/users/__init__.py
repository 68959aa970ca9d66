"""Trainees as Locust runs them: a `Trainee` plays the `Part` that it is handed, over the wire of the drill, and a
`Book` keeps a row of each thing it asked for."""
