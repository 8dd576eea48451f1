"""Models in the ONNX format."""
import os

from mindspore.train import model_files

__all__ = ["export"]


def export(net, *inputs, file_name, input_names=None, output_names=None, export_params=True, keep_initializers_as_inputs=False,
           dynamic_axes=None):
    """Writes a network, as it computes such inputs, to an ONNX file.

    input_names, output_names: in place of the names of construct's parameters and of output_0, output_1, ... dynamic_axes:
    {name of an input: {axis: name}} or {name: [axis]}; the axes are open in the model.
    """
    if not isinstance(file_name, str):
        raise TypeError(f"For 'onnx.export', the argument 'file_name' must be string, but got {type(file_name)}.")
    for name, value in (("export_params", export_params), ("keep_initializers_as_inputs", keep_initializers_as_inputs)):
        if not isinstance(value, bool):
            raise TypeError(f"For 'onnx.export', the argument '{name}' must be bool, but got {type(value)}.")
    if not export_params or keep_initializers_as_inputs:
        raise NotImplementedError("For 'onnx.export', models without weights ('export_params') or with weights as inputs "
                                  "('keep_initializers_as_inputs') are not supported.")
    path = os.path.realpath(file_name if file_name.endswith(".onnx") else file_name + ".onnx")
    model_files.write_onnx(net, inputs, path, input_names=input_names, output_names=output_names, dynamic_axes=dynamic_axes)
