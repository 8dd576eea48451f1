"""The literate page is a program: extract, compile, run, compare with the output that it shows."""
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import mindspore as ms

ROOT = pathlib.Path(__file__).parents[2]
PAGE = ROOT / 'docs' / 'core-in-30-minutes.md'


@pytest.mark.skipif(shutil.which('cc') is None, reason='no C compiler')
def test_core_in_30_minutes(tmp_path):
    source, program = tmp_path / 'core_mini.c', tmp_path / 'core_mini'
    subprocess.run([sys.executable, ROOT / 'tool' / 'extract.py', PAGE, source], check=True)
    subprocess.run(['cc', '-Wall', '-Wextra', '-Werror', '-o', program, source, '-lm'], check=True)
    shown = re.search(r'^```text\n(.*?)^```', PAGE.read_text(), re.M | re.S).group(1)
    assert subprocess.run([program], check=True, capture_output=True, text=True).stdout == shown


def test_operators_page_is_what_the_registry_says():
    sweep = pathlib.Path(ms._c.__file__).resolve().parents[1] / 'test_sweep'
    if not sweep.exists():
        pytest.skip('no build tree')
    shown = subprocess.run([sweep, '--table'], check=True, capture_output=True, text=True).stdout
    assert (ROOT / 'docs' / 'operators.md').read_text() == shown, 'run: build/test_sweep --table > docs/operators.md'


def test_the_extension_uses_only_exported_functions_of_the_library():
    """The library for tests shows all its functions, an installed one only those that are marked."""
    import mindspore._c as extension
    source = pathlib.Path(__file__).parents[2] / 'src'
    headers = ''.join(path.read_text() for path in source.rglob('*.h'))
    exported = set(re.findall(r'\b(ms__\w+)', ' '.join(re.findall(r'MS_API_EXPORT[^;]*', headers))))
    symbols = subprocess.run(['nm', '-D', '--undefined-only', extension.__file__], capture_output=True, text=True, check=True).stdout
    used = set(re.findall(r'\b(ms__\w+)', symbols))
    assert 'ms__raise' in used and used <= exported, used - exported
