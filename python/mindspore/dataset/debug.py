"""Hooks for config.set_debug_mode: they see the data between the operations of a map."""
__all__ = ['DebugHook', 'PrintDataHook', 'PrintMetaDataHook']


class DebugHook:
    """Override compute(args): it gets a list of the row's arrays and gives them back, changed or not."""

    def __init__(self, prev_op_name=None):
        self.prev_op_name = prev_op_name

    def __call__(self, *args):
        result = self.compute(list(args))
        result = args if result is None else tuple(result)
        return result if len(result) != 1 else result[0]

    def compute(self, args):
        raise NotImplementedError('A DebugHook must have compute(args).')


class PrintDataHook(DebugHook):
    def compute(self, args):
        print(*args, sep='\n')
        return args


class PrintMetaDataHook(DebugHook):
    def compute(self, args):
        for a in args:
            print(f'type: {type(a)}, shape: {getattr(a, "shape", None)}, dtype: {getattr(a, "dtype", None)}')
        return args
