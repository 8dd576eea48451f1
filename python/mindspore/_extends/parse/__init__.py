"""The switches of the original's parser."""


class _Config:
    """Any of them can be set and read back; none has a counterpart here."""

    def __getattr__(self, name):
        return ""


compile_config = _Config()
