"""The settings of the search of knowledge; units stand in the names."""

from pydantic import AnyHttpUrl, BaseModel, ConfigDict, Field, SecretStr


class SearchModelSettings(BaseModel):
    """A small model that helps the search, behind an address of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: AnyHttpUrl = Field(description="what is asked, with its path")
    model: str = Field(min_length=1, max_length=200, description="as it is named there")
    key: SecretStr | None = Field(default=None, description="shown as a bearer token")
    timeout_s: float = Field(default=0.3, gt=0, le=10, description="a turn that is not answered so soon does without")


class EmbeddingSettings(SearchModelSettings):
    """Speaks OpenAI's /v1/embeddings. Another model is another name: vectors are kept by it."""

    question_prefix: str = Field(default="", max_length=200, description='such as "query: "')
    passage_prefix: str = Field(default="", max_length=200, description='such as "passage: "')
    least_likeness: float = Field(
        default=0.35, ge=0, le=1, description="a piece whose cosine is lower is not found by likeness; model-dependent"
    )


class RerankSettings(SearchModelSettings):
    """Speaks /v1/rerank as vLLM, Jina and Cohere do, with relevance from 0 to 1."""

    least_relevance: float = Field(default=0.1, ge=0, le=1, description="a piece that is judged lower is not shown")


class SearchSettings(BaseModel):
    """How background is found. Without models the words of messages and documents decide alone."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    index_characters: int = Field(
        default=20_000_000,
        ge=100_000,
        le=2_000_000_000,
        description="most text that one process keeps indexed, of all bases together; about 25 bytes of memory each",
    )
    index_patience_s: float = Field(
        default=2.0, gt=0, le=60, description="a message whose base takes longer to index goes without background"
    )
    embeddings: EmbeddingSettings | None = None
    rerank: RerankSettings | None = None
