"""SummaryCollector: a callback that logs a run."""
import logging
import re

import numpy as np

from mindspore.common.tensor import Tensor
from mindspore.nn.optim.optimizer import Optimizer
from mindspore.train.callback._callback import Callback
from mindspore.train.callback._monitor import check_count
from mindspore.train.summary.enums import ModeEnum, PluginEnum
from mindspore.train.summary.summary_record import SummaryRecord, check_dir, check_export_options, check_positive, check_type

__all__ = ["SummaryCollector"]

_log = logging.getLogger("mindspore")
_LANDSCAPE = {"landscape_size": int, "unit": str, "create_landscape": dict, "num_samples": int, "intervals": list}


class SummaryCollector(Callback):
    """Records a run at its first step and every ``collect_freq`` steps: loss, learning rate, the first input if it is an image,
    histograms of Parameters, what summary operators say, and the metrics of evaluations.

    ``collect_specified_data`` chooses among 'collect_metric', 'collect_input_data' (bool each) and 'histogram_regular' (a
    regular expression over names of Parameters, None for the first five); without it and with ``keep_default_action`` all that is
    collected. ``collect_tensor_freq`` is the distance of the steps whose TensorSummary values are kept: by default ``collect_freq``,
    and at most 20 in a run of the default. The keys for graphs, lineage and landscapes are accepted as False or None only.
    """

    _DEFAULT_SPECIFIED_DATA = {"collect_metric": True, "collect_input_data": True, "histogram_regular": None}
    _REFUSED = ("collect_graph", "collect_train_lineage", "collect_eval_lineage", "collect_dataset_graph", "collect_landscape")
    _MOST_TENSORS = 20

    def __init__(self, summary_dir, collect_freq=10, num_process=32, collect_specified_data=None, keep_default_action=True,
                 custom_lineage_data=None, collect_tensor_freq=None, max_file_size=None, export_options=None):
        super().__init__()
        self._summary_dir = check_dir(summary_dir)
        self._freq = check_positive("SummaryCollector", "collect_freq", collect_freq)
        self._tensor_freq = None if collect_tensor_freq is None else check_count(collect_tensor_freq, "collect_tensor_freq")
        check_type("keep_default_action", keep_default_action, bool)
        check_export_options(export_options)
        self._check_lineage(custom_lineage_data)
        self._collect_specified_data = self._process_specified_data(collect_specified_data, keep_default_action)
        self._max, self._options, self._n = max_file_size, export_options, num_process
        self._record = self._found_optimizer = None
        self._is_parse_loss_success, self._step, self._tensors = True, 0, 0

    @staticmethod
    def _check_lineage(data):
        check_type("custom_lineage_data", data, dict, type(None))
        for key, value in (data or {}).items():
            check_type(f"custom_lineage_data -> {key}", key, str)
            check_type(f"the value of custom_lineage_data -> {key}", value, int, str, float)
        if data:
            raise NotImplementedError("For 'SummaryCollector', 'custom_lineage_data' is not supported.")

    def _process_specified_data(self, data, keep_default):
        check_type("collect_specified_data", data, dict, type(None))
        for key in data or {}:
            check_type(str(key), key, str)
        known = (*self._DEFAULT_SPECIFIED_DATA, *self._REFUSED)
        unknown = set(data or {}) - set(known)
        if unknown:
            raise ValueError(f'For "SummaryCollector", the keys {unknown} of `collect_specified_data` are unsupported, expect the '
                             f"follow keys: {list(known)}")
        for key, value in (data or {}).items():
            if key == "histogram_regular":
                check_type(key, value, str, type(None))
                self._check_regular(value)
            elif key == "collect_landscape":
                self._check_landscape(value)
            else:
                check_type(key, value, bool)
            if value and key in self._REFUSED:
                raise NotImplementedError(f"For 'SummaryCollector', '{key}' is not supported.")
        if data:
            return {**(self._DEFAULT_SPECIFIED_DATA if keep_default else {}), **data}
        return dict(self._DEFAULT_SPECIFIED_DATA) if keep_default else {}

    @staticmethod
    def _check_regular(value):
        try:
            re.compile(value or "")
        except re.error as e:
            raise ValueError(f"For `collect_specified_data`, the value of `histogram_regular` '{value}' is not a valid regular "
                             f"expression: {e}.") from None

    @staticmethod
    def _check_landscape(data):
        check_type("collect_landscape", data, dict, type(None))
        unknown = set(data or {}) - set(_LANDSCAPE)
        if unknown:
            raise ValueError(f'For "SummaryCollector", the keys {unknown} of `collect_landscape` are unsupported, expect the follow '
                             f"keys: {list(_LANDSCAPE)}")
        for key, value in (data or {}).items():
            check_type(key, value, _LANDSCAPE[key])
        for key, value in (data or {}).get("create_landscape", {}).items():
            check_type(key, value, bool)

    def __enter__(self):
        self._record = SummaryRecord(self._summary_dir, num_process=self._n, max_file_size=self._max, export_options=self._options)
        self._step = self._tensors = 0
        return self

    def __exit__(self, *error):
        self._record.close()

    # ---- stages ----

    def begin(self, run_context):
        p = run_context.original_args()
        self._check_callbacks(p)
        self._record.set_mode(ModeEnum.TRAIN.value if p.mode == "train" else ModeEnum.EVAL.value)

    @staticmethod
    def _check_callbacks(p):
        callbacks = p.get("list_callback") or ()
        callbacks = callbacks if isinstance(callbacks, (list, tuple)) else list(getattr(callbacks, "_callbacks", ()))
        if sum(isinstance(c, SummaryCollector) for c in callbacks) > 1:
            raise ValueError('For "SummaryCollector", there are more than one SummaryCollector instance in callback list, but expected '
                             "only one.")

    def on_eval_end(self, run_context):
        p = run_context.original_args()
        if self._collect_specified_data.get("collect_metric"):
            for name, value in p.metrics.items():
                if np.size(value) == 1:
                    self._record.add_value(PluginEnum.SCALAR.value, f"metric/{name}", float(np.reshape(value, ())))
            self._record.record(self._step)
        self._record.set_mode(ModeEnum.TRAIN.value)

    def on_eval_step_end(self, run_context):
        """Only the metrics of an evaluation are recorded."""

    def on_train_step_end(self, run_context):
        p = run_context.original_args()
        self._step = p.cur_step_num
        if self._step != 1 and self._step % self._freq:
            self._record.record(self._step, plugin_filter=self._take_tensors(False))
            return
        if self._collect_specified_data.get("collect_metric"):
            loss = self._get_loss(p)
            if loss is not None:
                self._record.add_value(PluginEnum.SCALAR.value, "loss/auto", loss)
            optimizer = self._get_optimizer(p)
            if optimizer is not None:
                lr = optimizer.get_lr()
                lr = lr[0] if isinstance(lr, (tuple, list)) else lr
                self._record.add_value(PluginEnum.SCALAR.value, "learning_rate/auto", float(lr))
        self._collect_input_data(p)
        self._collect_histogram(p)
        self._record.record(self._step, plugin_filter=self._take_tensors(True))

    def _take_tensors(self, due):
        """Which plugins of this step are kept: all or none when it is ``due``, and values of tensors at a pace of their own."""
        freq = self._tensor_freq
        if freq is None:
            tensors = due and self._tensors < self._MOST_TENSORS
        else:
            tensors = freq > 0 and (self._step == 1 or self._step % freq == 0)
        self._tensors += tensors
        return lambda plugin: tensors if plugin == PluginEnum.TENSOR.value else due

    # ---- values ----

    def _get_loss(self, p):
        """The loss as a Tensor, None when the outputs of the network do not begin with one."""
        if not self._is_parse_loss_success:
            return None
        loss = p.net_outputs
        while isinstance(loss, (tuple, list)) and loss:
            loss = loss[0]
        if not isinstance(loss, (int, float, Tensor)):
            self._is_parse_loss_success = False
            _log.warning("For 'SummaryCollector', the network gives no loss: its output is %s. The loss is not recorded.", type(loss).__name__)
            return None
        return Tensor(float(np.mean(loss.asnumpy() if isinstance(loss, Tensor) else loss)))

    def _get_optimizer(self, p):
        """The optimizer of the run, or that of its network."""
        if self._found_optimizer is None:
            network = p.get("train_network" if p.get("mode") == ModeEnum.TRAIN.value else "eval_network")
            cells = [] if network is None else [network, *network.cells()]
            held = [v for cell in cells for v in (cell, *vars(cell).values(), *cell.cells())]
            self._found_optimizer = p.get("optimizer") or next((v for v in held if isinstance(v, Optimizer)), None)
        return self._found_optimizer

    def _collect_input_data(self, p):
        if not self._collect_specified_data.get("collect_input_data"):
            return
        found = p.get("train_dataset_element")
        if found is None or (isinstance(found, (tuple, list)) and not found):
            self._collect_specified_data["collect_input_data"] = False
            _log.warning("For 'SummaryCollector', there is no input data, they are not recorded.")
            return
        found = found if isinstance(found, (tuple, list)) else (found,)
        image = next((e for e in found if isinstance(e, Tensor) and e.ndim == 4 and e.shape[1] in (1, 3)), None)
        if image is not None:
            self._record.add_value(PluginEnum.IMAGE.value, "input_data/auto", image)

    def _collect_histogram(self, p):
        if "histogram_regular" not in self._collect_specified_data:
            return
        optimizer = self._get_optimizer(p)
        params = optimizer.parameters if optimizer is not None else p.train_network.trainable_params() if p.get("train_network") else ()
        regular = self._collect_specified_data["histogram_regular"]
        params = params[:5] if regular is None else [q for q in params if re.match(regular, q.name)]
        for q in params:
            self._record.add_value(PluginEnum.HISTOGRAM.value, q.name + "/auto", q)
