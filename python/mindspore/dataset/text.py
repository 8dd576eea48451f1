"""Transforms on columns of text, vocabularies and word vectors. They work on numpy's arrays of str and run as Python
functions of a map; regular expressions are those of Python's re."""
import enum
import re
import sys
import unicodedata

import numpy as np

from . import _check
from ._rows import file as _file
from .transforms import PyTensorOperation, dtype_number

_UNUSED = r'\[CLS\]|\[SEP\]|\[UNK\]|\[PAD\]|\[MASK\]|\[unused\d+\]'


class NormalizeForm(enum.IntEnum):
    NONE = 0
    NFC = 1
    NFKC = 2
    NFD = 3
    NFKD = 4


class JiebaMode(enum.IntEnum):
    MIX = 0
    MP = 1
    HMM = 2


class SentencePieceModel(enum.IntEnum):
    UNIGRAM = 0
    BPE = 1
    CHAR = 2
    WORD = 3


class SPieceTokenizerLoadType(enum.IntEnum):
    FILE = 0
    MODEL = 1


class SPieceTokenizerOutType(enum.IntEnum):
    STRING = 0
    INT = 1


def to_str(array, encoding='utf8'):
    """An array of bytes as one of str."""
    if not isinstance(array, np.ndarray):
        raise TypeError('input should be a NumPy array.')
    return np.char.decode(array, encoding)


def to_bytes(array, encoding='utf8'):
    """An array of str as one of bytes."""
    if not isinstance(array, np.ndarray):
        raise TypeError('input should be a NumPy array.')
    return np.char.encode(array, encoding)


def _flag(name, value):
    return _check.kind(name, value, bool)


def _form(value):
    return _check.kind('normalization_form', value, NormalizeForm)


class _TextOperation(PyTensorOperation):
    """Checks that the input is text of a rank that the transform takes."""

    _ranks = None

    def __call__(self, *columns):
        if len(columns) != 1:
            raise RuntimeError(f'{type(self).__name__}: The op is OneToOne, can only accept one tensor as input.')
        text = np.asarray(columns[0])
        if text.dtype.kind != 'U':
            raise RuntimeError(f'{type(self).__name__}: the input is not of type string, but of {text.dtype}.')
        if self._ranks is not None and text.ndim not in self._ranks:
            raise RuntimeError(f'{type(self).__name__}: the input must have {" or ".join(map(str, self._ranks))} '
                               f'dimensions, but has the shape {text.shape}.')
        return self._run(text)

    def _each(self, text, function):
        return np.array([function(t) for t in text.ravel().tolist()] or [''][:text.size]).reshape(text.shape)


class _Tokenizer(_TextOperation):
    """One text to an array of tokens, with_offsets also their first and last byte + 1. No token at all gives one, ''."""

    _ranks = (0,)
    with_offsets = False

    def _run(self, text):
        text = text.item()
        spans = list(self._spans(text)) or [(0, 0)]
        tokens = np.array([text[b:e] for b, e in spans])
        if not self.with_offsets:
            return tokens
        ends = [tuple(len(text[:k].encode()) for k in s) for s in spans]
        return (tokens, *(np.array(o, np.uint32) for o in zip(*ends)))


class WhitespaceTokenizer(_Tokenizer):
    def __init__(self, with_offsets=False):
        self.with_offsets = _flag('with_offsets', with_offsets)

    def _spans(self, text):
        return (m.span() for m in re.finditer(r'\S+', text))


class UnicodeCharTokenizer(_Tokenizer):
    def __init__(self, with_offsets=False):
        self.with_offsets = _flag('with_offsets', with_offsets)

    def _spans(self, text):
        return ((k, k + 1) for k in range(len(text)))


def _script(c):
    """A name that characters of one script share; '' = of no script of its own (digits, punctuation, spaces)."""
    if unicodedata.category(c)[0] not in 'LM' or unicodedata.category(c) == 'Lm':
        return ''
    return unicodedata.name(c, 'CJK').split()[0].split('-')[0]


class UnicodeScriptTokenizer(_Tokenizer):
    """Cuts where the script changes and around white space."""

    def __init__(self, keep_whitespace=False, with_offsets=False):
        self.keep_whitespace = _flag('keep_whitespace', keep_whitespace)
        self.with_offsets = _flag('with_offsets', with_offsets)

    def _spans(self, text):
        begin, last = 0, None
        for k, c in enumerate([*text, None]):
            kind = None if c is None else (c.isspace(), _script(c))
            if kind and kind[1] == 'COMBINING' and last:
                kind = last
            if k and kind != last:
                if self.keep_whitespace or not last[0]:
                    yield begin, k
                begin = k
            last = kind


class RegexTokenizer(_Tokenizer):
    """Cuts at what matches delim_pattern; what also matches keep_delim_pattern becomes a token."""

    def __init__(self, delim_pattern, keep_delim_pattern='', with_offsets=False):
        self.delim_pattern = re.compile(_check.kind('delim_pattern', delim_pattern, str))
        self.keep_delim_pattern = re.compile(_check.kind('keep_delim_pattern', keep_delim_pattern, str))
        self.with_offsets = _flag('with_offsets', with_offsets)

    def _spans(self, text):
        at = 0
        for m in self.delim_pattern.finditer(text):
            if m.start() > at:
                yield at, m.start()
            if m.end() > m.start() and self.keep_delim_pattern.pattern and self.keep_delim_pattern.fullmatch(m.group()):
                yield m.span()
            at = m.end()
        if at < len(text):
            yield at, len(text)


def _folded(text):
    return unicodedata.normalize('NFKC', unicodedata.normalize('NFKC', text).casefold())


def _is_cjk(c):
    return 0x4e00 <= ord(c) <= 0x9fff or 0x3400 <= ord(c) <= 0x4dbf or 0x20000 <= ord(c) <= 0x2ceaf \
        or 0xf900 <= ord(c) <= 0xfaff or 0x2f800 <= ord(c) <= 0x2fa1f


def _is_mark(c):
    return unicodedata.category(c)[0] == 'P' or 33 <= ord(c) <= 47 or 58 <= ord(c) <= 64 or 91 <= ord(c) <= 96 \
        or 123 <= ord(c) <= 126


class BasicTokenizer(_Tokenizer):
    """Words, each punctuation mark and each CJK character by itself; normalized, without control characters."""

    def __init__(self, lower_case=False, keep_whitespace=False, normalization_form=NormalizeForm.NONE,
                 preserve_unused_token=True, with_offsets=False):
        self.lower_case = _flag('lower_case', lower_case)
        self.keep_whitespace = _flag('keep_whitespace', keep_whitespace)
        self.normalization_form = _form(normalization_form)
        self.preserve_unused_token = _flag('preserve_unused_token', preserve_unused_token)
        self.with_offsets = _flag('with_offsets', with_offsets)

    def _run(self, text):
        return super()._run(np.array(self._clean(text.item())))

    def _clean(self, text):
        parts = re.split(f'({_UNUSED})', text) if self.preserve_unused_token else [text]
        for k in range(0, len(parts), 2):
            if self.lower_case:
                folded = unicodedata.normalize('NFD', _folded(parts[k]))
                parts[k] = ''.join(c for c in folded if unicodedata.category(c) != 'Mn')
            elif self.normalization_form:
                parts[k] = unicodedata.normalize(self.normalization_form.name, parts[k])
            parts[k] = ''.join(' ' if c in '\t\n\r' else c for c in parts[k]
                               if c in '\t\n\r' or unicodedata.category(c) not in ('Cc', 'Cf'))
        return ''.join(parts)

    def _spans(self, text):
        kept = {m.start(): m.end() for m in re.finditer(_UNUSED, text)} if self.preserve_unused_token else {}
        at = begin = 0
        while at < len(text):
            c = text[at]
            end = kept.get(at, at + 1)
            single = at in kept or c.isspace() or _is_cjk(c) or _is_mark(c)
            if single:
                if at > begin:
                    yield begin, at
                if c.isspace():
                    while end < len(text) and text[end].isspace():
                        end += 1
                if not c.isspace() or self.keep_whitespace:
                    yield at, end
                begin = end
            at = end
        if len(text) > begin:
            yield begin, len(text)


class WordpieceTokenizer(_TextOperation):
    """Cuts tokens into the longest pieces that the vocabulary has; the pieces behind the first carry suffix_indicator."""

    _ranks = (0, 1)

    def __init__(self, vocab, suffix_indicator='##', max_bytes_per_token=100, unknown_token='[UNK]', with_offsets=False):
        self.vocab = _check.kind('vocab', vocab, Vocab)
        self.suffix_indicator = _check.kind('suffix_indicator', suffix_indicator, str)
        self.max_bytes_per_token = _check.integer('max_bytes_per_token', max_bytes_per_token, 0)
        self.unknown_token = _check.kind('unknown_token', unknown_token, str)
        self.with_offsets = _flag('with_offsets', with_offsets)

    def _pieces(self, token):
        known, at = self.vocab.vocab(), 0
        if len(token.encode()) > self.max_bytes_per_token:
            return None
        pieces = []
        while at < len(token):
            for end in range(len(token), at, -1):
                piece = (self.suffix_indicator if at else '') + token[at:end]
                if piece in known:
                    break
            else:
                return None
            pieces.append((piece, at, end))
            at = end
        return pieces

    def _run(self, tokens, starts=None):
        tokens = tokens.ravel().tolist()
        rows = []
        for token, start in zip(tokens, starts if starts is not None else [0] * len(tokens)):
            pieces = self._pieces(token)
            if pieces is None:
                pieces = [(self.unknown_token or token, 0, len(token))]
            rows += [(p, start + len(token[:b].encode()), start + len(token[:e].encode())) for p, b, e in pieces]
        rows = rows or [('', 0, 0)]
        words, *ends = zip(*rows)
        return (np.array(words), *(np.array(e, np.uint32) for e in ends)) if self.with_offsets else np.array(words)


class BertTokenizer(_TextOperation):
    """BasicTokenizer, then WordpieceTokenizer."""

    _ranks = (0,)

    def __init__(self, vocab, suffix_indicator='##', max_bytes_per_token=100, unknown_token='[UNK]', lower_case=False,
                 keep_whitespace=False, normalization_form=NormalizeForm.NONE, preserve_unused_token=True,
                 with_offsets=False):
        self._basic = BasicTokenizer(lower_case, keep_whitespace, normalization_form, preserve_unused_token, True)
        self._piece = WordpieceTokenizer(vocab, suffix_indicator, max_bytes_per_token, unknown_token, with_offsets)

    def _run(self, text):
        tokens, starts, _ = self._basic(text)
        return self._piece._run(tokens, starts.tolist())


class CaseFold(_TextOperation):
    """Lower case for comparisons, in compatibility form (NFKC_Casefold of Unicode)."""

    def _run(self, text):
        return self._each(text, _folded)


class NormalizeUTF8(_TextOperation):
    def __init__(self, normalize_form=NormalizeForm.NFKC):
        self.normalize_form = _check.kind('normalize_form', normalize_form, NormalizeForm)

    def _run(self, text):
        form = self.normalize_form
        return self._each(text, lambda t: unicodedata.normalize(form.name, t) if form else t)


class RegexReplace(_TextOperation):
    """Replaces what matches; $1 in the replacement is the first group."""

    def __init__(self, pattern, replace, replace_all=True):
        self.pattern = re.compile(_check.kind('pattern', pattern, str))
        self.replace = re.sub(r'\$(\d)', r'\\g<\1>', _check.kind('replace', replace, str).replace('\\', '\\\\'))
        self.replace_all = _flag('replace_all', replace_all)

    def _run(self, text):
        return self._each(text, lambda t: self.pattern.sub(self.replace, t, 0 if self.replace_all else 1))


class FilterWikipediaXML(_TextOperation):
    """The words of a page of a Wikipedia dump: without markup, in lower case, figures spelled out digit by digit."""

    _steps = [(r'&lt;.*?&gt;|<[^>]*>', ''), (r'&amp;', '&'), (r'&lt;', '<'), (r'&gt;', '>'), (r'<ref[^<]*</ref>', ''),
              (r'<[^>]*>', ''), (r'\[http:[^] ]*', '['), (r'\|thumb', ''), (r'\|left', ''), (r'\|right', ''),
              (r'\|\d+px', ''), (r'\[\[image:[^\[\]]*\|', ''), (r'\[\[category:([^|\]]*)[^]]*\]\]', r'[[\1]]'),
              (r'\[\[[a-z\-]*:[^\]]*\]\]', ''), (r'\[\[[^\|\]]*\|', '[['), (r'\{\{[^\}]*\}\}', ''), (r'\{[^\}]*\}', ''),
              (r'\[', ''), (r'\]', ''), (r'&[^;]*;', ' ')]
    _digits = dict(zip('0123456789', 'zero one two three four five six seven eight nine'.split()))

    def _clean(self, text):
        if '#redirect' in text.lower():
            return ''
        text = text.lower()
        for pattern, by in self._steps:
            text = re.sub(pattern, by, text)
        text = re.sub(r'\d', lambda m: f' {self._digits[m.group()]} ', text)
        return re.sub(r'[^a-z]+', ' ', text).strip()

    def _run(self, text):
        return self._each(text, self._clean)


class Ngram(_TextOperation):
    """All runs of n tokens (each n of a list in turn), joined by the separator."""

    _ranks = (1,)

    def __init__(self, n, left_pad=('', 0), right_pad=('', 0), separator=' '):
        self.n = [n] if isinstance(n, int) else _check.kind('n', n, list)
        if not self.n:
            raise ValueError('n needs to be a non-empty list of positive integers.')
        for i, k in enumerate(self.n):
            _check.kind(f'gram[{i}]', k, int)
            if k <= 0:
                raise ValueError(f'gram_{i} must be greater than 0, but got {k}.')
        for name, pad in (('left_pad', left_pad), ('right_pad', right_pad)):
            if not isinstance(pad, tuple) or len(pad) != 2 or not isinstance(pad[0], str) or not isinstance(pad[1], int):
                raise ValueError(f'{name} needs to be a tuple of (str, int).')
            if pad[1] < 0:
                raise ValueError('padding width need to be positive numbers.')
        self.left_pad, self.right_pad = left_pad, right_pad
        self.separator = _check.kind('separator', separator, str)

    def _run(self, tokens):
        result = []
        for n in self.n:
            left, right = min(self.left_pad[1], n - 1), min(self.right_pad[1], n - 1)
            padded = [self.left_pad[0]] * left + tokens.tolist() + [self.right_pad[0]] * right
            result += [self.separator.join(padded[k:k + n]) for k in range(len(padded) - n + 1)] or ['']
        return np.array(result)


class SlidingWindow(PyTensorOperation):
    """All runs of `width` items; fewer items give an empty array."""

    def __init__(self, width, axis=0):
        self.width, self.axis = _check.integer('width', width, 1), _check.kind('axis', axis, int)

    def __call__(self, value):
        value = np.asarray(value)
        if value.ndim != 1:
            raise RuntimeError(f'SlidingWindow: the input must have 1 dimension, but has the shape {value.shape}.')
        if self.axis not in (0, -1):
            raise RuntimeError(f'SlidingWindow: axis supports 0 or -1 only, but got {self.axis}.')
        n = max(len(value) - self.width + 1, 0)
        return value[np.arange(n)[:, None] + np.arange(self.width)]


class ToNumber(_TextOperation):
    def __init__(self, data_type):
        self.data_type = data_type
        dtype_number(data_type)
        from mindspore.common.dtype import dtype_to_nptype
        self._dtype = np.dtype(data_type if isinstance(data_type, (type, np.dtype)) else dtype_to_nptype(data_type))
        if self._dtype.kind not in 'iuf':
            raise TypeError(f'data_type: {data_type} is not numeric data type.')

    def _number(self, text):
        try:
            value = float(text) if self._dtype.kind == 'f' else int(text)
        except ValueError:
            raise RuntimeError(f'ToNumber: it is invalid to convert "{text}" to a number') from None
        limits = (np.finfo if self._dtype.kind == 'f' else np.iinfo)(self._dtype)
        if limits.min <= value <= limits.max or value != value or abs(value) == float('inf'):
            return value
        raise RuntimeError(f'ToNumber: string input {text} will be out of bounds if cast to {self._dtype}, '
                           f'valid range is: [{limits.min}, {limits.max}]')

    def _run(self, text):
        return np.array([self._number(t) for t in text.ravel().tolist()], self._dtype).reshape(text.shape)


class PythonTokenizer(PyTensorOperation):
    """A function that takes a str and gives a list of str."""

    def __init__(self, tokenizer):
        if not callable(tokenizer):
            raise TypeError('tokenizer is not a callable Python function.')
        self.tokenizer = tokenizer

    def __call__(self, text):
        text = np.asarray(text)
        text = text.item() if text.ndim == 0 else text.tolist()
        return np.array(self.tokenizer(text.decode() if isinstance(text, bytes) else text))


class Truncate(PyTensorOperation):
    """The first max_seq_len items (of the last axis)."""

    def __init__(self, max_seq_len):
        self.max_seq_len = _check.integer('max_seq_len', max_seq_len, 1)

    def __call__(self, value):
        value = np.asarray(value)
        if value.ndim not in (1, 2):
            raise RuntimeError(f'Truncate: the input must have 1 or 2 dimensions, but has the shape {value.shape}.')
        return value[..., :self.max_seq_len]


class TruncateSequencePair(PyTensorOperation):
    """Takes from the end of the longer of two sequences until both together have max_length items."""

    def __init__(self, max_length):
        self.max_length = _check.integer('max_length', max_length, 0)

    def __call__(self, first, second):
        first, second = np.asarray(first), np.asarray(second)
        a, b = len(first), len(second)
        while a + b > self.max_length:
            a, b = (a - 1, b) if a > b else (a, b - 1)
        return first[:a], second[:b]


class AddToken(_TextOperation):
    """Puts a token before (or behind) the tokens of each row."""

    _ranks = (1, 2)

    def __init__(self, token, begin=True):
        self.token, self.begin = _check.kind('token', token, str), _flag('begin', begin)

    def _run(self, text):
        more = np.full((*text.shape[:-1], 1), self.token)
        return np.concatenate([more, text] if self.begin else [text, more], axis=-1)


class Lookup(_TextOperation):
    """Tokens to their numbers."""

    def __init__(self, vocab, unknown_token=None, data_type=None):
        self.vocab = _check.kind('vocab', vocab, Vocab)
        if unknown_token is not None:
            _check.kind('unknown_token', unknown_token, str)
            if unknown_token not in vocab.vocab():
                raise ValueError(f'unknown_token: [{unknown_token}], doesn\'t exist in vocab.')
        self.unknown_token = unknown_token
        self._to = ToNumber(np.int32 if data_type is None else data_type)._dtype

    def _number(self, token):
        known = self.vocab.vocab()
        if token in known:
            return known[token]
        if self.unknown_token is None:
            raise RuntimeError(f'Lookup: token: "{token}" doesn\'t exist in vocab and no unknown token is specified.')
        return known[self.unknown_token]

    def _run(self, text):
        return np.array([self._number(t) for t in text.ravel().tolist()], self._to).reshape(text.shape)


class Vocab:
    """Words and their numbers."""

    def __init__(self):
        self._number = None

    def _known(self):
        if self._number is None:
            raise RuntimeError('Vocab is not initialized; use one of its from_ methods.')
        return self._number

    def vocab(self):
        return dict(self._known()) if self._number is None else self._number

    def tokens_to_ids(self, tokens):
        tokens = tokens.tolist() if isinstance(tokens, np.ndarray) else tokens
        many = [tokens] if isinstance(tokens, str) else _check.kind('tokens', tokens, list)
        for t in many:
            _check.kind('tokens', t, str)
        ids = [self._known().get(t, -1) for t in many]
        return ids[0] if isinstance(tokens, str) else ids

    def ids_to_tokens(self, ids):
        ids = ids.tolist() if isinstance(ids, np.ndarray) else ids
        many = ids if isinstance(ids, list) else [ids]
        word = {k: w for w, k in self._known().items()}
        for k in many:
            _check.integer('ids', k, 0)
        words = [word.get(k, '') for k in many]
        return words if isinstance(ids, list) else words[0]

    @classmethod
    def _made(cls, words, special_tokens, special_first):
        special = [] if special_tokens is None else _check.kind('special_tokens', special_tokens, list)
        for name, part in (('word_list', words), ('special_tokens', special)):
            for w in part:
                _check.kind(name, w, str)
            if len(set(part)) != len(part):
                raise ValueError(f'{name} contains duplicate.')
        _flag('special_first', special_first)
        both = set(words) & set(special)
        if both:
            raise ValueError(f'special_tokens and word_list contain duplicate word: {sorted(both)}.')
        vocab = cls()
        vocab._number = {w: k for k, w in enumerate([*special, *words] if special_first else [*words, *special])}
        return vocab

    @classmethod
    def from_list(cls, word_list, special_tokens=None, special_first=True):
        return cls._made(_check.kind('word_list', word_list, list), special_tokens, special_first)

    @classmethod
    def from_dict(cls, word_dict):
        for word, number in _check.kind('word_dict', word_dict, dict).items():
            _check.kind('word', word, str)
            _check.integer('word_id', number, 0)
        vocab = cls()
        vocab._number = dict(word_dict)
        return vocab

    @classmethod
    def from_file(cls, file_path, delimiter='', vocab_size=None, special_tokens=None, special_first=True):
        """The first vocab_size lines, up to the delimiter."""
        _check.kind('delimiter', delimiter, str)
        if vocab_size is not None and _check.kind('vocab_size', vocab_size, int) <= 0:
            raise ValueError(f'Input vocab_size must be greater than 0, but got {vocab_size}.')
        with open(_file(file_path, 'file_path'), encoding='utf-8') as f:
            words = [line.rstrip('\r\n') for line in f]
        words = [w.split(delimiter)[0] if delimiter else w for w in words if w][:vocab_size]
        return cls._made(words, special_tokens, special_first)

    @classmethod
    def from_dataset(cls, dataset, columns=None, freq_range=None, top_k=None, special_tokens=None, special_first=True):
        """The words of the columns, the most frequent first, equals in alphabetic order."""
        names = dataset.get_col_names() if columns is None else _check.names('columns', columns)
        low, high = (None, None) if freq_range is None else _check.kind('freq_range', freq_range, tuple)
        for v in (low, high):
            if v is not None:
                _check.integer('freq_range', v, 0)
        if low is not None and high is not None and low > high:
            raise ValueError('frequency range [a,b] should be 0 <= a <= b (a,b are inclusive).')
        if top_k is not None:
            _check.integer('top_k', top_k, 1)
        count = {}
        for row in dataset.project(names).create_tuple_iterator(num_epochs=1, output_numpy=True):
            for column in row:
                if column.dtype.kind != 'U':
                    raise RuntimeError(f'Vocab.from_dataset: a column is not of type string, but of {column.dtype}.')
                for word in column.ravel().tolist():
                    count[word] = count.get(word, 0) + 1
        words = sorted((w for w, n in count.items() if (low is None or n >= low) and (high is None or n <= high)),
                       key=lambda w: (-count[w], w))
        return cls._made(words[:top_k], special_tokens, special_first)


class Vectors:
    """Words and their vectors; a text file has a word and its numbers on each line."""

    def __init__(self, vectors=None):
        self._vectors = vectors or {}
        self.dim = len(next(iter(self._vectors.values()))) if self._vectors else 0

    _suffix = ''

    @classmethod
    def from_file(cls, file_path, max_vectors=None):
        if max_vectors is not None:
            _check.integer('max_vectors', max_vectors, 0)
        if cls._suffix and not str(file_path).endswith(cls._suffix):
            raise ValueError(f'{cls.__name__}: file_path must end with {cls._suffix}, but got {file_path}.')
        vectors, dim = {}, None
        with open(_file(file_path, 'file_path'), encoding='utf-8') as f:
            for number, line in enumerate(f):
                word, *values = line.rstrip().split(' ')
                if number == 0 and len(values) == 1:
                    continue  # counts of words and dimensions
                if max_vectors is not None and len(vectors) == max_vectors:
                    break
                try:
                    vector = np.array(values, np.float32)
                except ValueError as e:
                    raise RuntimeError(f'Invalid file, line {number + 1} of {file_path}: {e}') from None
                if len(vector) < 2 or (dim is not None and len(vector) != dim):
                    raise RuntimeError(f'Invalid file, all vectors must have the same number of dimensions, but got dim '
                                       f'{len(vector)} while expecting {dim or "2 or more"}, line {number + 1} of {file_path}.')
                dim = len(vector)
                vectors.setdefault(word, vector)
        if not vectors:
            raise RuntimeError(f'Vectors: invalid file, file is empty. It is {file_path}.')
        return cls(vectors)

    def lookup(self, word, unknown):
        vector = self._vectors.get(word)
        return vector if vector is not None else unknown

    def __contains__(self, word):
        return word in self._vectors


class FastText(Vectors):
    _suffix = '.vec'


class GloVe(Vectors):
    _suffix = '.txt'


class CharNGram(Vectors):
    """A word's vector is the mean of those of its runs of 2 to 4 characters."""

    def lookup(self, word, unknown):
        chars = ['#BEGIN#', *word, '#END#']
        found = [self._vectors[g] for n in (2, 3, 4) for k in range(len(chars) - n + 1)
                 for g in [f'{n}gram-{"".join(chars[k:k + n])}'] if g in self._vectors]
        return np.mean(found, axis=0, dtype=np.float32) if found else unknown

    def __contains__(self, word):
        return self.lookup(word, None) is not None


class ToVectors(_TextOperation):
    """Tokens to their vectors; unknown ones to unk_init, or zeros."""

    _ranks = (0, 1)

    def __init__(self, vectors, unk_init=None, lower_case_backup=False):
        self.vectors = _check.kind('vectors', vectors, Vectors)
        self.unk_init = None if unk_init is None else np.array(_check.kind('unk_init', unk_init, list, tuple), np.float32)
        if self.unk_init is not None and len(self.unk_init) != vectors.dim:
            raise ValueError(f'unk_init must be the same length as vectors, but got unk_init: {len(self.unk_init)} and '
                             f'vectors: {vectors.dim}.')
        self.lower_case_backup = _flag('lower_case_backup', lower_case_backup)

    def _vector(self, word):
        if self.lower_case_backup and word not in self.vectors:
            word = word.lower()
        unknown = np.zeros(self.vectors.dim, np.float32) if self.unk_init is None else self.unk_init
        return self.vectors.lookup(word, unknown)

    def _run(self, text):
        return np.stack([self._vector(w) for w in text.ravel().tolist()]).reshape(*text.shape, -1)


class JiebaTokenizer:
    def __init__(self, hmm_path, mp_path, mode=JiebaMode.MIX, with_offsets=False):
        raise NotImplementedError('JiebaTokenizer is not supported; use PythonTokenizer with jieba.lcut of the package jieba.')


class SentencePieceVocab:
    @classmethod
    def from_dataset(cls, dataset, col_names, vocab_size, character_coverage, model_type, params):
        raise NotImplementedError('SentencePieceVocab is not supported; train a model with the package sentencepiece.')

    @classmethod
    def from_file(cls, file_path, vocab_size, character_coverage, model_type, params):
        return cls.from_dataset(None, None, vocab_size, character_coverage, model_type, params)

    @classmethod
    def save_model(cls, vocab, path, filename):
        return cls.from_dataset(None, None, None, None, None, None)


class SentencePieceTokenizer:
    def __init__(self, mode, out_type):
        raise NotImplementedError('SentencePieceTokenizer is not supported; use PythonTokenizer with the package '
                                  'sentencepiece.')


for _module in ('transforms', 'utils'):  # where scripts look for these names
    sys.modules[f'{__name__}.{_module}'] = sys.modules[__name__]
transforms = utils = sys.modules[__name__]
