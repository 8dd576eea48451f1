"""The package's logger: debug, info, warning, error and critical; GLOG_v gives the level: 0 debug to 4 critical, 2 if unset."""
import logging
import os

_logger = logging.getLogger('mindspore')
if not _logger.handlers:
    _logger.addHandler(logging.StreamHandler())
    _logger.handlers[0].setFormatter(logging.Formatter('[%(levelname)s] %(message)s'))
    _logger.propagate = False
    _level = os.environ.get('GLOG_v', '2')
    _logger.setLevel({'0': 10, '1': 20, '2': 30, '3': 40, '4': 50}.get(_level, 30))

debug, info, warning, error, critical = (_logger.debug, _logger.info, _logger.warning, _logger.error, _logger.critical)
