"""Methods of values in compiled functions, which are Python's own."""
ms_len = len


def list_append(self_, list_item):
    """The list with one more item."""
    self_.append(list_item)
    return self_


def list_insert(self_, index, obj):
    """The list with an item before that of the index."""
    self_.insert(index, obj)
    return self_
