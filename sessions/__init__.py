"""What a training session is and what happens in one; knows nothing of replicas.

A *scenario* is a versioned role-play. A *session* is one trainee's run through it, made of numbered *turns*: the
trainee's message and the reply of the *tutor*, a model that answers as a stream.
"""
