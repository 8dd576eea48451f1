"""Names of what a summary holds."""
import enum

__all__ = ["ModeEnum", "PluginEnum"]


class ModeEnum(enum.Enum):
    """The kinds of runs whose values are kept apart."""

    TRAIN = "train"
    EVAL = "eval"


class PluginEnum(enum.Enum):
    """The kinds of values of ``SummaryRecord.add_value``."""

    SCALAR = "scalar"
    IMAGE = "image"
    TENSOR = "tensor"
    HISTOGRAM = "histogram"
    TEXT = "text"
    GRAPH = "graph"
    TRAIN_LINEAGE = "train_lineage"
    EVAL_LINEAGE = "eval_lineage"
    CUSTOM_LINEAGE_DATA = "custom_lineage_data"
    DATASET_GRAPH = "dataset_graph"
    LANDSCAPE = "landscape"
