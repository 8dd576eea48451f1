"""dataset.text: tokenizers with offsets, normal forms, vocabularies and vectors, at once and in a pipeline."""
import numpy as np
import pytest

import mindspore as ms
import mindspore.dataset as ds
from mindspore.dataset import text

VOCAB = text.Vocab.from_list(['my', 'favor', '##ite', '中', '国', '[UNK]', '[CLS]'])
TOKENS = [
    (text.WhitespaceTokenizer(), ' a\u3000bc\td ', ['a', 'bc', 'd']),
    (text.WhitespaceTokenizer(), '', ['']),
    (text.UnicodeCharTokenizer(), 'aß国', ['a', 'ß', '国']),
    (text.UnicodeScriptTokenizer(), 'Welcome to Beijing北京欢迎您', ['Welcome', 'to', 'Beijing', '北京欢迎您']),
    (text.UnicodeScriptTokenizer(keep_whitespace=True), '2019年 Кот', ['2019', '年', ' ', 'Кот']),
    (text.RegexTokenizer(r'[,\s]+', r','), 'a, b,c', ['a', 'b', ',', 'c']),
    (text.BasicTokenizer(), "[CLS] don't [unused12]stop中国", ['[CLS]', 'don', "'", 't', '[unused12]', 'stop', '中', '国']),
    (text.BasicTokenizer(lower_case=True), 'Ｆｕｌｌ éÀ', ['full', 'ea']),
    (text.BasicTokenizer(keep_whitespace=True), 'a\n b', ['a', '  ', 'b']),
    (text.BasicTokenizer(normalization_form=text.NormalizeForm.NFKC, preserve_unused_token=False), '[CLS]ﬁ',
     ['[', 'CLS', ']', 'fi']),
    (text.BertTokenizer(VOCAB, lower_case=True), 'My favorite 中国 cat', ['my', 'favor', '##ite', '中', '国', '[UNK]']),
    (text.BertTokenizer(VOCAB, unknown_token=''), 'cat', ['cat']),
    (text.WordpieceTokenizer(VOCAB, max_bytes_per_token=4), np.array(['my', 'favorite']), ['my', '[UNK]']),
    (text.PythonTokenizer(str.split), 'a b', ['a', 'b']),
    (text.CaseFold(), 'Straße ℌ', 'strasse h'),
    (text.NormalizeUTF8(), 'x² ﬁ', 'x2 fi'),
    (text.RegexReplace(r'(\w)b', r'<$1>'), 'ab cb', '<a> <c>'),
    (text.RegexReplace(r'b', r'', replace_all=False), 'bb', 'b'),
    (text.FilterWikipediaXML(), '[[Image:x|thumb|A]] <b>Two</b> &amp; 3', 'a two three'),
    (text.Ngram([1, 2], ('_', 1), ('', 0), '-'), np.array(['a', 'b']), ['a', 'b', '_-a', 'a-b']),
    (text.Ngram(3), np.array(['a', 'b']), ['']),
    (text.AddToken('x', begin=False), np.array([['a'], ['b']]), [['a', 'x'], ['b', 'x']]),
    (text.ToNumber(ms.int8), np.array(['-128', '7']), [-128, 7]),
    (text.ToNumber(np.float32), '1.5', 1.5),
    (text.SlidingWindow(2), np.arange(3), [[0, 1], [1, 2]]),
    (text.Truncate(2), np.array(['a', 'b', 'c']), ['a', 'b']),
    (text.Lookup(VOCAB, '[UNK]'), np.array(['中', 'cat']), [3, 5]),
]


@pytest.mark.parametrize('op, value, expected', TOKENS, ids=lambda v: type(v).__name__)
def test_at_once_and_in_a_pipeline(op, value, expected):
    assert op(value).tolist() == expected
    d = ds.GeneratorDataset([(np.asarray(value),)], ['text'], shuffle=False).map(op, 'text')
    got, = next(d.create_tuple_iterator(output_numpy=True))
    assert got.tolist() == expected and got.dtype.kind == op(value).dtype.kind


def test_offsets_count_bytes():
    for op in (text.WhitespaceTokenizer(True), text.RegexTokenizer(' ', with_offsets=True), text.BasicTokenizer(with_offsets=True)):
        d = ds.NumpySlicesDataset({'t': ['größe 国']}).map(op, 't', ['t', 'b', 'e'])
        tokens, starts, ends = next(d.create_tuple_iterator(output_numpy=True))
        assert tokens.tolist() == (['größe', '国']) and starts.tolist() == [0, 8] and ends.tolist() == [7, 11]
        assert starts.dtype == np.uint32
    tokens, starts, ends = text.BertTokenizer(VOCAB, with_offsets=True)('my favorite')
    assert list(zip(starts.tolist(), ends.tolist())) == [(0, 2), (3, 8), (8, 11)]


def test_pairs():
    first, second = text.TruncateSequencePair(4)(np.array([1, 2, 3]), np.array([4, 5, 6]))
    assert first.tolist() == [1, 2] and second.tolist() == [4, 5]


@pytest.mark.parametrize('op, value, says', [
    (text.CaseFold(), b'x', 'not of type string'), (text.ToNumber(np.int8), '128', 'out of bounds.*int8'),
    (text.ToNumber(np.int32), 'x1', 'invalid to convert "x1"'), (text.Lookup(VOCAB), 'cat', 'token: "cat" doesn\'t exist'),
    (text.WhitespaceTokenizer(), ['a', 'b'], '0 dimensions'), (text.SlidingWindow(2), [[1]], '1 dimension')])
def test_bad_values_name_the_operation(op, value, says):
    with pytest.raises(RuntimeError, match=says):
        op(value)
    d = ds.GeneratorDataset([(np.asarray(value),)], ['t'], shuffle=False).map(op, 't')
    with pytest.raises(RuntimeError, match=rf'map operation: \[{type(op).__name__}\] failed[\s\S]*{says}[\s\S]*row 0'):
        next(d.create_tuple_iterator())


def test_vocab(tmp_path):
    words = ds.NumpySlicesDataset({'w': ['b', 'a', 'c', 'b', 'c', 'd']}, shuffle=False)
    v = text.Vocab.from_dataset(words, 'w', top_k=3, special_tokens=['<pad>'])
    assert v.vocab() == {'<pad>': 0, 'b': 1, 'c': 2, 'a': 3}
    assert text.Vocab.from_dataset(words, freq_range=(2, None)).tokens_to_ids(['c', 'a']) == [1, -1]
    assert v.ids_to_tokens([3, 9]) == ['a', ''] and v.ids_to_tokens(np.array(2)) == 'c'
    (tmp_path / 'v').write_text('x,1\ny,2\nz,3\n')
    v = text.Vocab.from_file(str(tmp_path / 'v'), ',', 2, ['<s>'], special_first=False)
    assert v.vocab() == {'x': 0, 'y': 1, '<s>': 2}
    assert text.Vocab.from_dict({'k': 7}).tokens_to_ids('k') == 7
    for bad in (lambda: text.Vocab.from_list(['a', 'a']), lambda: text.Vocab.from_list(['a'], ['a']),
                lambda: text.Lookup(v, 'none'), lambda: text.Vocab.from_file(str(tmp_path / 'no'))):
        with pytest.raises(ValueError):
            bad()
    with pytest.raises(RuntimeError, match='not initialized'):
        text.Vocab().tokens_to_ids('a')


def test_vectors(tmp_path):
    path = tmp_path / 'v.txt'
    path.write_text('2 3\nthe 1 2 3\nCat 4 5 6\n')
    v = text.GloVe.from_file(str(path))
    op = text.ToVectors(v, unk_init=[9, 9, 9])
    assert op(np.array(['the', 'dog'])).tolist() == [[1, 2, 3], [9, 9, 9]] and op('Cat').tolist() == [4, 5, 6]
    assert text.ToVectors(v, lower_case_backup=True)('THE').tolist() == [1, 2, 3]
    path.write_text('2gram-#BEGIN#a 1 2\n2gram-a#END# 3 4\n')
    assert text.ToVectors(text.CharNGram.from_file(str(path)))('a').tolist() == [2, 3]
    path.write_text('a 1 2\nb 1\n')
    with pytest.raises(RuntimeError, match='same number of dimensions, but got dim 1 while expecting 2, line 2'):
        text.Vectors.from_file(str(path))


def test_str_and_bytes():
    assert text.to_str(np.array([b'\xc3\xbc'])).tolist() == ['ü'] and text.to_bytes(np.array(['ü'])).tolist() == [b'\xc3\xbc']
    for kind, args in ((text.JiebaTokenizer, ('a', 'b')), (text.SentencePieceTokenizer, ('a', 0))):
        with pytest.raises(NotImplementedError):
            kind(*args)
