"""The settings of jobs; units stand in the names."""

from pydantic import BaseModel, ConfigDict, Field

from sessions.domain.answer_shares import AnswerShares
from sessions.domain.job import RetryRule

_BYTES_PER_TOKEN = 8
"""With room to spare: of English about four, of Chinese three to six."""


class JobSettings(BaseModel):
    """Of questions that are answered in the background. Token numbers are counted by the served model's tokenizer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    workers: int = Field(default=2, ge=0, le=256, description="answers that one process generates at once; 0 for none")
    jobs_per_tenant: int = Field(default=20, ge=1, le=10_000, description="jobs of a tenant that are not over")
    questions_per_job: int = Field(default=500, ge=1, le=500)
    running_per_tenant: int = Field(
        default=8, ge=1, le=10_000, description="answers of a tenant that are generated at once, over all processes"
    )
    question_tokens: int = Field(default=512, ge=16, le=32_768, description="most tokens of one question")
    answer_tokens: int = Field(default=400, ge=16, le=32_768, description="most tokens of one answer")
    summary_tokens: int = Field(default=240, ge=16, le=8_192, description="most tokens of one summary of a chapter")
    background_tokens: int = Field(default=1200, ge=64, le=65_536, description="most tokens found for one question")
    attempts: int = Field(default=3, ge=1, le=10, description="how often an answer is tried")
    retry_pause_s: float = Field(default=2.0, gt=0, le=600, description="before the second try; doubled for each more")
    lease_s: float = Field(
        default=30.0, ge=1, le=600, description="what a lost process had begun is begun anew elsewhere after this"
    )
    poll_s: float = Field(
        default=1.0, gt=0, le=10, description="how often an idle worker looks, and how soon a cancelled answer stops"
    )

    @property
    def questions_bytes(self) -> int:
        """Of as many questions as a job takes, each as long as it may be."""
        return self.questions_per_job * self.question_tokens * _BYTES_PER_TOKEN

    @property
    def retry(self) -> RetryRule:
        return RetryRule(self.attempts, self.retry_pause_s)

    def shares(self, window_tokens: int) -> AnswerShares:
        return AnswerShares(
            window=window_tokens,
            answer=self.answer_tokens,
            summary=self.summary_tokens,
            question=self.question_tokens,
            background=self.background_tokens,
        )
