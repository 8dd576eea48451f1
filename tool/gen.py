#!/usr/bin/env python3
"""Scan the sources for MS_OP, MS_KERNEL, MS_API and *.def rows; write what C cannot say about itself.

usage: gen.py LIST OUT_DIR    (LIST: a file with one source path per line)

  mindspore_ops.h   a C function per operator
  ops_gen.c         their bodies: attributes into MsAttr, then ms_bind
  registry_gen.c    the tables of operators, kernels (by priority) and API rows

Rows of src/op/*.def read  MS_KIND(name, "(x: float) -> x", ...)  and get the kernel `ms_kernel_<name>_loop`.
Output files are only touched when their text changes, so that nothing is compiled in vain.
"""
import pathlib
import re
import sys

OP = re.compile(r'^MS_OP\(\s*(\w+)\s*,(.*?)\);', re.M | re.S)
SIG = re.compile(r'\.sig\s*=\s*((?:"[^"]*"\s*)+)')
ROW = re.compile(r'^MS_[A-Z0-9_]+\(\s*(\w+)\s*,\s*"([^"]+)"', re.M)
KERNEL = re.compile(r'^MS_KERNEL\(\s*(\w+)\s*,\s*(\d+)\s*,\s*(\w+)\s*,', re.M)
API = re.compile(r'^MS_API(?:_ALSO|_IN_PLACE)?\(\s*(\w+)\s*,', re.M)

CTYPE = {'int': 'int64_t ', 'float': 'double ', 'bool': 'bool ', 'ints': 'MsInts ', 'dtype': 'MsDtype ',
         'str': 'const char *', 'graph': 'MsGraph *',
         'host': 'MsHost *'}
SET = ("int", "float", "bool")


def text_of(literals):
    return ''.join(re.findall(r'"([^"]*)"', literals))


def parse(sig):
    """'name(a: T, b: T[], *, k: int) -> T' -> inputs [(name, list?)], attrs [(name, kind)], n_out, list_out"""
    m = re.match(r'\s*\w*\s*\((.*)\)\s*->\s*(.*)$', sig, re.S)
    if not m:
        sys.exit(f'gen.py: malformed signature: {sig}')
    inputs, attrs, in_attrs = [], [], False
    for part in filter(None, (p.strip() for p in m.group(1).split(','))):
        if part == '*':
            in_attrs = True
            continue
        name, kind = (s.strip() for s in part.split(':'))
        if in_attrs:
            attrs.append((name, kind.rstrip('?')))
        else:
            inputs.append((name, '[]' in kind))
    outs = m.group(2).split(',')
    return inputs, attrs, len(outs), '[]' in m.group(2)


def prototype(name, sig):
    inputs, attrs, n_out, list_out = parse(sig)
    params = []
    for arg, is_list in inputs:
        params.append(f'int n_{arg}, MsTensor *const *{arg}' if is_list else f'MsTensor *{arg}')
    params += [CTYPE[kind] + arg for arg, kind in attrs]
    single = n_out == 1 and not list_out
    if list_out:
        params.append('int cap, MsTensor **out, int *n_out')
    elif not single:
        params.append(f'MsTensor *out[{n_out}]')
    ret = 'MsTensor *' if single else 'MsStatus '
    return f'{ret}ms_{name}({", ".join(params) or "void"})'


def body(name, sig):
    inputs, attrs, n_out, list_out = parse(sig)
    single = n_out == 1 and not list_out
    lines = [prototype(name, sig), '{']
    fixed = [a for a, is_list in inputs if not is_list]
    lists = [a for a, is_list in inputs if is_list]
    if lists:
        failed = 'NULL' if single else 'ms_error()->code'
        lines.append(f'    if (!few_enough(n_{lists[0]}, "{name}", "{lists[0]}")) return {failed};')
        lines.append(f'    MsTensor *all[{len(fixed)} + (n_{lists[0]} > 0 ? n_{lists[0]} : 1)];')
        lines += [f'    all[{i}] = {a};' for i, a in enumerate(fixed)]
        lines.append(f'    for (int k = 0; k < n_{lists[0]}; k++) all[{len(fixed)} + k] = {lists[0]}[k];')
        ins, n_in = 'all', f'{len(fixed)} + n_{lists[0]}'
    elif fixed:
        lines.append(f'    MsTensor *in[] = {{{", ".join(fixed)}}};')
        ins, n_in = 'in', str(len(fixed))
    else:
        ins, n_in = 'NULL', '0'
    if attrs:
        lines.append(f'    MsAttr attr[{len(attrs)}];')
        for k, (a, kind) in enumerate(attrs):
            if kind == 'ints':
                lines.append(f'    if (!set_ints(&attr[{k}], {a}, "{name}", "{a}")) return {"NULL" if single else "ms_error()->code"};')
            elif kind in SET:
                lines.append(f'    attr[{k}].kind = MS_ATTR_{kind.upper()}, attr[{k}].n = 0, attr[{k}].{"f" if kind == "float" else "i"} = {a};')
            elif kind == 'dtype':
                lines.append(f'    attr[{k}].kind = {a} == MS_DTYPE_NONE ? MS_ATTR_NONE : MS_ATTR_DTYPE, attr[{k}].n = 0, attr[{k}].i = {a};')
            else:
                field = {'str': 's', 'graph': 'g', 'host': 'h'}[kind]
                lines.append(f'    attr[{k}].kind = {a} ? MS_ATTR_{kind.upper()} : MS_ATTR_NONE, attr[{k}].n = 0, attr[{k}].{field} = {a};')
    at = 'attr' if attrs else 'NULL'
    if single:
        lines.append(f'    return ms_bind1(&ms_op_{name}, {at}, {n_in}, {ins});')
    elif list_out:
        lines.append(f'    return ms_bind(&ms_op_{name}, {at}, {n_in}, {ins}, cap, out, n_out);')
    else:
        lines.append(f'    int n;\n    return ms_bind(&ms_op_{name}, {at}, {n_in}, {ins}, {n_out}, out, &n);')
    lines.append('}\n')
    return '\n'.join(lines)


def write(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main():
    listed, out = map(pathlib.Path, sys.argv[1:3])
    out.mkdir(parents=True, exist_ok=True)
    ops, kernels, apis = {}, {}, []

    def add_op(name, sig, path):
        if name in ops:
            sys.exit(f'gen.py: {path}: operator {name} is defined twice')
        ops[name] = sig

    for path in map(pathlib.Path, listed.read_text().split('\n')):
        if not path.name:
            continue
        text = path.read_text()
        if path.suffix == '.def' and path.parent.name == 'op':
            for name, sig in ROW.findall(text):
                if [kind for _, kind in parse(sig)[1]] not in ([], ['float']):
                    sys.exit(f'gen.py: {path}: {name}: a row has one attribute at most, a float; others are an MS_OP with a kernel')
                add_op(name, sig, path)
                kernels.setdefault(name, []).append((0, 'loop'))
            continue
        for name, rest in OP.findall(text):
            m = SIG.search(rest)
            if not m:
                sys.exit(f'gen.py: {path}: operator {name} has no .sig')
            add_op(name, text_of(m.group(1)), path)
        for name, priority, label in KERNEL.findall(text):
            kernels.setdefault(name, []).append((int(priority), label))
        apis += API.findall(text)

    for name in kernels:
        if name not in ops:
            sys.exit(f'gen.py: kernel for unknown operator {name}')
    names = sorted(ops)
    head = ('/* Generated from the operator registry by tool/gen.py. The signature above each function is the\n'
            ' * operator\'s own; see docs/ for what it computes. Ownership and errors as in mindspore.h. */\n'
            '#ifndef MINDSPORE_OPS_H\n#define MINDSPORE_OPS_H\n#include "mindspore.h"\n'
            '#ifdef __cplusplus\nextern "C" {\n#endif\n')
    protos = ''.join(f'/* {ops[n] if ops[n].startswith(n) else n + ops[n]} */\nMS_API_EXPORT {prototype(n, ops[n])};\n'
                     for n in names)
    write(out / 'mindspore_ops.h', head + protos + '#ifdef __cplusplus\n}\n#endif\n#endif\n')
    bodies = ('#include "trace/trace.h"\n#include <string.h>\n\n'
              'static inline bool set_ints(MsAttr *a, MsInts v, const char *op, const char *arg)\n{\n'
              '    a->kind = v.n < 0 ? MS_ATTR_NONE : MS_ATTR_INTS;\n    a->n = (uint8_t)(v.n < 0 ? 0 : v.n);\n'
              '    if (v.n > MS_MAX_DIM) {\n'
              '        MS_FAIL(MS_ERROR_VALUE, "For \'%s\', \'%s\' has at most %d entries, but got %d.", op, arg, MS_MAX_DIM, v.n);\n'
              '        return false;\n    }\n'
              '    if (v.n > 0 && !v.v) { /* the shape of a tensor that an earlier error left out */\n'
              '        if (!ms__failed()) MS_FAIL(MS_ERROR_VALUE, "For \'%s\', \'%s\' is missing.", op, arg);\n'
              '        return false;\n    }\n'
              '    if (v.n > 0) memcpy(a->v, v.v, (size_t)v.n * sizeof *v.v);\n    return true;\n}\n\n'
              '/* Lists of inputs lie on the stack, here and in the interpreters. */\n'
              'static inline bool few_enough(int n, const char *op, const char *arg)\n{\n'
              '    if (n >= 0 && n <= 32768) return true;\n'
              '    MS_FAIL(MS_ERROR_VALUE, "For \'%s\', \'%s\' has at most 32768 tensors, but got %d.", op, arg, n);\n'
              '    return false;\n}\n\n'
              + ''.join(f'extern const MsOp ms_op_{n};\n' for n in names) + '\n'
              + '\n'.join(body(n, ops[n]) for n in names))
    write(out / 'ops_gen.c', bodies)
    reg = ['#include "api/api.h"\n#include "op/op.h"\n']
    for n in names:
        rows = sorted(kernels.get(n, []), reverse=True)
        reg += [f'extern const MsKernel ms_kernel_{n}_{label};' for _, label in rows]
        reg.append(f'extern const MsKernel *const ms_kernels_{n}[];')
        reg.append(f'const MsKernel *const ms_kernels_{n}[] = {{'
                   + ''.join(f'&ms_kernel_{n}_{label}, ' for _, label in rows) + 'NULL};')
        reg.append(f'extern const MsOp ms_op_{n};')
    reg.append('const MsOp *const ms__ops[] = {' + ''.join(f'&ms_op_{n}, ' for n in names) + 'NULL};')
    reg.append(f'const int ms__n_ops = {len(names)};')
    reg += [f'extern const MsApi ms_api_{a};' for a in apis]
    reg.append('const MsApi *const ms__apis[] = {' + ''.join(f'&ms_api_{a}, ' for a in apis) + 'NULL};')
    reg.append(f'const int ms__n_apis = {len(apis)};\n')
    write(out / 'registry_gen.c', '\n'.join(reg))


if __name__ == '__main__':
    main()
