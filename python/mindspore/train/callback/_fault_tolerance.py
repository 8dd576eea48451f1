"""TrainFaultTolerance: a callback for clusters of Ascend processors, whose name programs import everywhere."""
import os

from mindspore.train.callback._callback import Callback

__all__ = ["TrainFaultTolerance"]


class TrainFaultTolerance(Callback):
    """Saves and repairs a run on Ascend processors when one fails; refused here, as a CPU is not watched."""

    def __init__(self, ckpt_save_path=None, **kwargs):
        super().__init__()
        switch = os.environ.get("MS_ENABLE_TFT", "")
        if not any(word + ":1" in switch for word in ("TTP", "UCE", "ARF", "TSP", "HCCE", "RSC", "TFT")):
            raise ValueError("MindIO TFT register need custom switch on: set the environment variable 'MS_ENABLE_TFT'.")
        raise ValueError("For 'TrainFaultTolerance', the device must be Ascend, but got CPU.")
