"""The exceptions of this package by the names that scripts catch. Each is also the Python exception of its kind."""


class MindRecordException(Exception):
    """Base of all of them."""


class ParamTypeError(MindRecordException, TypeError):
    pass


class ParamValueError(MindRecordException, ValueError):
    pass


class ParamMissError(MindRecordException, TypeError):
    pass


class PathNotExistsError(MindRecordException, ValueError):
    pass


_RUNTIME = ('DbConnectionError', 'UnknownError', *(f'MRM{n}Error' for n in (
    'AddIndex', 'AddSchema', 'BuildSchema', 'Close', 'Commit', 'DefineBlob', 'DefineCategory', 'DefineIndex',
    'FetchCandidateFields', 'FetchData', 'Finish', 'GenerateIndex', 'GetMeta', 'IndexGenerator', 'InitSegment',
    'InvalidHeaderSize', 'InvalidPageSize', 'InvalidSchema', 'Launch', 'Open', 'OpenForAppend', 'ReadCategoryInfo', 'SetHeader',
    'UnsupportedSchema', 'ValidateData', 'WriteDataset')))

for _name in _RUNTIME:
    globals()[_name] = type(_name, (MindRecordException, RuntimeError), {'__module__': __name__})

__all__ = ['MindRecordException', 'ParamTypeError', 'ParamValueError', 'ParamMissError', 'PathNotExistsError', *_RUNTIME]
