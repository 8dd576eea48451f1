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


@pytest.mark.skipif(shutil.which('cc') is None, reason='no C compiler')
def test_the_operator_of_the_tour_compiles(tmp_path):
    generated = pathlib.Path(ms._c.__file__).resolve().parents[1] / 'gen'
    if not generated.exists():
        pytest.skip('no build tree')
    blocks = [b for b in re.findall(r'^```c\n(.*?)^```', (ROOT / 'src' / 'README.md').read_text(), re.M | re.S) if 'sums' in b]
    headers = ['op/batch.h', 'op/rules.h', 'cpu/copy.h', 'cpu/dense.h'] # that the blocks name
    source = tmp_path / 'sums.c'
    source.write_text(''.join(f'#include "{h}"\n' for h in headers) + '\n'.join(blocks))
    subprocess.run(['cc', '-std=gnu11', '-Wall', '-Wextra', '-Werror', '-fsyntax-only', f'-I{ROOT}/include', f'-I{ROOT}/src',
                    f'-I{generated}', source], check=True)


def test_an_elementwise_row_has_one_attribute_at_most(tmp_path):
    rows, listed = tmp_path / 'op' / 'unary.def', tmp_path / 'sources'
    rows.parent.mkdir()
    listed.write_text(str(rows))
    for attributes, code in (('alpha: float', 0), ('alpha: float, beta: float', 1), ('alpha: int', 1)):
        rows.write_text(f'MS_UNARY_FLOAT(scaled, "(x: float, *, {attributes}) -> x", P(0) * x, NONE, "")\n')
        r = subprocess.run([sys.executable, ROOT / 'tool' / 'gen.py', listed, tmp_path / 'out'], capture_output=True, text=True)
        assert r.returncode == code and ('one attribute at most' in r.stderr) == bool(code), r.stderr


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
