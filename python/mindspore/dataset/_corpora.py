"""Published data sets of texts; the columns hold strings unless said otherwise."""
import csv
import json
import os
import xml.etree.ElementTree as ElementTree

import numpy as np

from . import _check
from ._rows import RowsDataset, TextFile, file, inside, lines, u4
from .datasets import Shuffle

_join = os.path.join

_TEXT = lambda dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=Shuffle.GLOBAL, \
    num_shards=None, shard_id=None, cache=None: None  # noqa: E731
_TEXT_LATE = lambda dataset_dir, usage=None, num_samples=None, shuffle=Shuffle.GLOBAL, num_shards=None, shard_id=None, \
    num_parallel_workers=None, cache=None: None  # noqa: E731


class _CsvCorpus(RowsDataset):
    """train.csv and test.csv without a line of names."""

    _arguments, _usages, _by_file = _TEXT, ('train', 'test', 'all'), True

    def _list(self, dataset_dir, usage):
        parts = []
        for part in ('test', 'train') if usage in (None, 'all') else (usage,):
            path, rows = _join(dataset_dir, f'{part}.csv'), []
            with open(file(path), encoding='utf-8', newline='') as f:
                for number, row in enumerate(csv.reader(f)):
                    if row and len(row) != len(self._fields):
                        raise RuntimeError(f'Invalid file, row {number + 1} of {path} has {len(row)} fields, not '
                                           f'{len(self._fields)}.')
                    rows += [tuple(row)] if row else []
            parts.append(rows)
        return self._fields, parts


class AGNewsDataset(_CsvCorpus):
    _fields = ('index', 'title', 'description')


class AmazonReviewDataset(_CsvCorpus):
    _fields = ('label', 'title', 'content')


class DBpediaDataset(_CsvCorpus):
    _fields = ('class', 'title', 'content')


class YahooAnswersDataset(_CsvCorpus):
    _fields = ('class', 'title', 'content', 'answer')


class YelpReviewDataset(_CsvCorpus):
    _arguments, _fields = _TEXT_LATE, ('label', 'text')


class SogouNewsDataset(_CsvCorpus):
    _arguments, _fields = _TEXT_LATE, ('index', 'title', 'content')


class IMDBDataset(RowsDataset):
    """text, and label (int32): 1 = positive."""

    _arguments = lambda dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None, \
        num_shards=None, shard_id=None, cache=None: None  # noqa: E731
    _usages = ('train', 'test', 'all')

    def _list(self, dataset_dir, usage):
        return ('text', 'label'), [(TextFile(p), np.int32(k))
                                   for part in (('train', 'test') if usage in (None, 'all') else (usage,))
                                   for name, k in (('pos', 1), ('neg', 0))
                                   for p in inside(_join(dataset_dir, part, name), '.txt')]


class _LinesCorpus(RowsDataset):
    """A row for each line that has text."""

    _arguments, _usages, _by_file = _TEXT, ('train', 'test', 'valid', 'all'), True

    def _list(self, dataset_dir, usage):
        parts = ('test', 'train', 'valid') if usage in (None, 'all') else (usage,)
        return ('text',), [[(line,) for line in lines(_join(dataset_dir, self._file.format(p))) if line.strip()]
                           for p in parts]


class PennTreebankDataset(_LinesCorpus):
    _file = 'ptb.{}.txt'


class WikiTextDataset(_LinesCorpus):
    _file = 'wiki.{}.tokens'


class EnWik9Dataset(RowsDataset):
    _arguments = lambda dataset_dir, num_samples=None, num_parallel_workers=None, shuffle=True, num_shards=None, \
        shard_id=None, cache=None: None  # noqa: E731

    def _list(self, dataset_dir):
        return ('text',), [(line,) for line in lines(_join(dataset_dir, 'enwik9')) if line]


class _TaggedCorpus(RowsDataset):
    """Sentences: lines of a word and its tags, with an empty line between sentences."""

    _arguments, _by_file = _TEXT_LATE, True

    def _list(self, dataset_dir, usage):
        parts, sentence = [], []
        for part in self._parts if usage in (None, 'all') else (usage,):
            parts.append([])
            for line in [*lines(_join(dataset_dir, self._file.format(part))), '']:
                if line.strip():
                    sentence.append((line.split(self._split) + ['', ''])[:3])
                elif sentence:
                    parts[-1].append(tuple(np.array(column) for column in zip(*sentence)))
                    sentence = []
        return self._fields, parts


class CoNLL2000Dataset(_TaggedCorpus):
    _usages, _parts, _file, _split = ('train', 'test', 'all'), ('test', 'train'), '{}.txt', ' '
    _fields = ('word', 'pos_tag', 'chunk_tag')


class UDPOSDataset(_TaggedCorpus):
    _usages, _parts = ('train', 'test', 'valid', 'all'), ('valid', 'test', 'train')
    _file, _split, _fields = 'en-ud-tag.v2.{}.txt', '\t', ('word', 'universal', 'stanford')

    def _list(self, dataset_dir, usage):
        self._parts = ('dev', 'test', 'train')
        return super()._list(dataset_dir, {'valid': 'dev'}.get(usage, usage))


class SQuADDataset(RowsDataset):
    """context, question, text (the answers) and answer_start (uint32)."""

    _arguments, _usages = _TEXT, ('train', 'dev', 'all')

    def _list(self, dataset_dir, usage):
        rows = []
        for part in ('dev', 'train') if usage in (None, 'all') else (usage,):
            for path in inside(dataset_dir, '.json'):
                if not os.path.basename(path).startswith(f'{part}-v'):
                    continue
                try:
                    with open(path, encoding='utf-8') as f:
                        for p in (p for d in json.load(f)['data'] for p in d['paragraphs']):
                            rows += [(p['context'], q['question'], np.array([a['text'] for a in q['answers']] or ['']),
                                      u4([a['answer_start'] for a in q['answers']] or [0xffffffff])) for q in p['qas']]
                except (ValueError, KeyError, TypeError) as e:
                    raise RuntimeError(f'Invalid file {path}: {e!r}') from e
        return ('context', 'question', 'text', 'answer_start'), rows


class SST2Dataset(RowsDataset):
    _arguments, _usages = _TEXT, ('train', 'test', 'dev')

    def _list(self, dataset_dir, usage):
        part = usage or 'train'
        rows = [line.split('\t') for line in lines(_join(dataset_dir, f'{part}.tsv'))[1:] if line.strip()]
        return (('sentence',), [(r[1],) for r in rows]) if part == 'test' else (('sentence', 'label'), [tuple(r) for r in rows])


class Multi30kDataset(RowsDataset):
    _arguments = lambda dataset_dir, usage=None, language_pair=None, num_samples=None, num_parallel_workers=None, \
        shuffle=None, num_shards=None, shard_id=None, cache=None: None  # noqa: E731
    _usages = ('train', 'test', 'valid', 'all')

    def _list(self, dataset_dir, usage, language_pair):
        pair = language_pair or ['en', 'de']
        if sorted(_check.kind('language_pair', pair, list, tuple)) != ['de', 'en']:
            raise ValueError('language_pair can only be ["en", "de"] or ["en", "de"].')
        stems = {'test': 'mmt16_task1_test/test', 'train': 'training/train', 'valid': 'validation/val'}
        rows = []
        for part in stems if usage in (None, 'all') else (usage,):
            both = [[t for t in lines(_join(dataset_dir, f'{stems[part]}.{n}')) if t.strip()] for n in pair]
            if len(both[0]) != len(both[1]):
                raise RuntimeError(f'Invalid data, {stems[part]} has {len(both[0])} and {len(both[1])} sentences.')
            rows += list(zip(*both))
        return ('text', 'translation'), rows


class _Talks(RowsDataset):
    """Sentences of talks in two languages: plain lines between lines of tags, and <seg> elements of XML."""

    _by_file = True

    def _read(self, base, part, pair, name):
        both = []
        for language in pair:
            if part == 'train':
                path = _join(base, f'train.tags.{"-".join(pair)}.{language}')
                both.append([s.strip() for s in lines(path) if s.strip() and not s.lstrip().startswith('<')])
            else:
                path = _join(base, f'{name}.{"-".join(pair)}.{language}.xml')
                try:
                    both.append([(s.text or '').strip() for s in ElementTree.parse(file(path)).iter('seg')])
                except ElementTree.ParseError as e:
                    raise RuntimeError(f'Invalid file, {path} is not XML: {e}') from e
        if len(both[0]) != len(both[1]):
            raise RuntimeError(f'Invalid data, {base} has {len(both[0])} and {len(both[1])} sentences of {part}.')
        return list(zip(*both))

    def _pair(self, pair, known):
        pair = ['de', 'en'] if pair is None else list(_check.kind('language_pair', pair, list, tuple))
        if pair not in known:
            raise ValueError(f'Input language_pair{pair} is not within the valid set of {known}.')
        return pair


class IWSLT2016Dataset(_Talks):
    _arguments = lambda dataset_dir, usage=None, language_pair=None, valid_set=None, test_set=None, num_samples=None, \
        shuffle=Shuffle.GLOBAL, num_shards=None, shard_id=None, num_parallel_workers=None, cache=None: None  # noqa: E731
    _usages = ('train', 'valid', 'test', 'all')

    def _list(self, dataset_dir, usage, language_pair, valid_set, test_set):
        others = ('ar', 'de', 'fr', 'cs')
        pair = self._pair(language_pair, [['en', n] for n in others] + [[n, 'en'] for n in others])
        known = ('dev2010', 'tst2010', 'tst2011', 'tst2012', 'tst2013', 'tst2014')
        names = {'train': None, 'valid': _check.choice('valid_set', valid_set or 'tst2013', known),
                 'test': _check.choice('test_set', test_set or 'tst2014', known)}
        base = _join(dataset_dir, 'texts', *pair, '-'.join(pair))
        return ('text', 'translation'), [self._read(base, part, pair, f'IWSLT16.TED.{names[part]}')
                                         for part in (names if usage in (None, 'all') else (usage,))]


class IWSLT2017Dataset(_Talks):
    _arguments = lambda dataset_dir, usage=None, language_pair=None, num_samples=None, shuffle=Shuffle.GLOBAL, num_shards=None, \
        shard_id=None, num_parallel_workers=None, cache=None: None  # noqa: E731
    _usages = ('train', 'valid', 'test', 'all')

    def _list(self, dataset_dir, usage, language_pair):
        languages = ('en', 'nl', 'de', 'it', 'ro')
        pair = self._pair(language_pair, [[a, b] for a in languages for b in languages if a != b])
        base = _join(dataset_dir, 'texts', *['DeEnItNlRo'] * 2, 'DeEnItNlRo-DeEnItNlRo')
        names = {'train': None, 'valid': 'dev2010', 'test': 'tst2010'}
        return ('text', 'translation'), [self._read(base, part, pair, f'IWSLT17.TED.{names[part]}')
                                         for part in (names if usage in (None, 'all') else (usage,))]


class CLUEDataset(RowsDataset):
    """Lines of JSON; the columns, in alphabetic order, are those of the task."""

    _arguments = lambda dataset_files, task='AFQMC', usage='train', num_samples=None, num_parallel_workers=None, \
        shuffle=Shuffle.GLOBAL, num_shards=None, shard_id=None, cache=None: None  # noqa: E731
    _fields = {'AFQMC': 'sentence1 sentence2', 'CMNLI': 'sentence1 sentence2', 'CSL': 'abst id keyword', 'TNEWS': 'keywords '
               'sentence', 'IFLYTEK': 'sentence', 'WSC': 'idx span1_index span1_text span2_index span2_text text'}
    _labels = {'TNEWS': 'label label_desc', 'IFLYTEK': 'label label_des'}

    def _list(self, dataset_files, task, usage):
        from ._files import _files
        if _check.kind('task', task, str) not in self._fields:
            raise ValueError(f'task should be {", ".join(self._fields)}.')
        if _check.kind('usage', usage, str) not in ('train', 'test', 'eval'):
            raise ValueError('usage should be train, test or eval.')
        names = self._fields[task].split()
        if usage != 'test':
            names += self._labels.get(task, 'label').split()
        elif 'id' not in names and task != 'WSC':
            names.append('id')
        names, rows = sorted(names), []
        for path in _files(dataset_files):
            for number, line in enumerate(lines(path)):
                if not line.strip():
                    continue
                try:
                    item = json.loads(line)
                    item.update(item.pop('target', {}))
                    rows.append(tuple(u4(int(item[n])) if n in ('id', 'idx', 'span1_index', 'span2_index') else
                                      np.array(item[n]) for n in names))
                except (ValueError, KeyError, TypeError, AttributeError) as e:
                    raise RuntimeError(f'Invalid JSON, line {number + 1} of {path}: {e!r}') from e
        return names, rows


__all__ = [n for n, o in list(globals().items()) if n.endswith('Dataset') and isinstance(o, type) and n != 'RowsDataset']
