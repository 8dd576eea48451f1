"""Published data sets of sounds: the waveform float32 <channel, time> and its sample rate, then what is said of it.

A row is (path, None or (begin, end) in seconds, the other columns); the file is read when the row is asked for."""
import os
import re
import wave

import numpy as np

from . import _check
from ._rows import RowsDataset, file, folder, inside, lines, u4

_join = os.path.join
_SOUND = ('waveform', 'sample_rate')
_PLAIN = lambda dataset_dir, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None, num_shards=None, \
    shard_id=None, cache=None: None  # noqa: E731
_USAGE = lambda dataset_dir, usage=None, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None, \
    num_shards=None, shard_id=None, cache=None: None  # noqa: E731


def _samples(raw, size, channels, big=False):
    """PCM of `size` bytes as float32 <channel, time> in [-1, 1]; one byte is unsigned, 128 is zero."""
    if size == 1:
        x = np.frombuffer(raw, np.uint8).astype(np.int32) - 128
    elif size == 3:
        b = np.frombuffer(raw, np.uint8).reshape(-1, 3)[:, ::-1 if big else 1].astype(np.int32)
        x = (b[:, 0] | b[:, 1] << 8 | b[:, 2] << 16) << 8 >> 8
    else:
        x = np.frombuffer(raw, f'{">" if big else "<"}i{size}')
    return np.ascontiguousarray((x / ((1 << 8 * size - 1) - 1)).astype(np.float32).reshape(-1, channels).T)


def _wav(path):
    with wave.open(path, 'rb') as f:
        return _samples(f.readframes(f.getnframes()), f.getsampwidth(), f.getnchannels()), f.getframerate()


def _sph(path):
    """NIST SPHERE: a header of text, then PCM."""
    with open(path, 'rb') as f:
        head, size = f.readline(), int(f.readline())
        if head.strip() != b'NIST_1A':
            raise ValueError('it does not begin with NIST_1A')
        text = f.read(size - f.tell()).decode('ascii', 'replace')
        fields = dict((p[0], p[2]) for p in (line.split(None, 2) for line in text.splitlines()) if len(p) == 3)
        if not fields.get('sample_coding', 'pcm').startswith('pcm') or 'shorten' in fields.get('sample_coding', ''):
            raise ValueError(f'its coding {fields["sample_coding"]} is not supported')
        x = _samples(f.read(), int(fields['sample_n_bytes']), int(fields.get('channel_count', 1)),
                     fields.get('sample_byte_format') == '10')
    return x, int(fields['sample_rate'])


class _Sounds(RowsDataset):
    _rate, _read = np.uint32, staticmethod(_wav)

    def _open(self):
        return self._host()

    def _get(self, i):
        path, part, *rest = self._rows[i]
        try:
            x, rate = self._read(path)
        except OSError as e:
            raise RuntimeError(f'Invalid file, {path} cannot be read: {e.strerror}') from e
        except (wave.Error, EOFError, ValueError, KeyError) as e:
            raise RuntimeError(f'Invalid file, {path} is not a sound file that can be read: {e!r}') from e
        if part is not None:
            x = np.ascontiguousarray(x[:, int(part[0] * rate):int(part[1] * rate)])
        return (x, np.array(rate, self._rate), *rest)


class CMUArcticDataset(_Sounds):
    _arguments = lambda dataset_dir, name=None, num_samples=None, num_parallel_workers=None, shuffle=None, sampler=None, \
        num_shards=None, shard_id=None, cache=None: None  # noqa: E731

    def _list(self, dataset_dir, name):
        known = 'aew ahw aup awb axb bdl clb eey fem gka jmk ksp ljm lnh rms rxr slp slt'.split()
        name = 'aew' if name is None else _check.choice('name', _check.kind('name', name, str), known)
        base, rows = folder(_join(dataset_dir, f'cmu_us_{name}_arctic')), []
        for key, text in re.findall(r'\(\s*(\S+)\s+"(.*)"\s*\)', '\n'.join(lines(_join(base, 'etc', 'txt.done.data')))):
            rows.append((_join(base, 'wav', f'{key}.wav'), None, text, key.split('_', 1)[1]))
        return (*_SOUND, 'transcript', 'utterance_id'), rows


class GTZANDataset(_Sounds):
    """The lists of files that `usage` chooses by are not known here; all is what there is."""

    _arguments, _usages = _USAGE, ('train', 'valid', 'test', 'all')

    def _list(self, dataset_dir, usage):
        if usage not in (None, 'all'):
            raise NotImplementedError("GTZANDataset supports usage='all' only; filter or split the dataset.")
        names = sorted(e.name for e in os.scandir(dataset_dir) if e.is_dir())
        return (*_SOUND, 'label'), [(p, None, n) for n in names for p in inside(_join(dataset_dir, n), '.wav')]


class LibriTTSDataset(_Sounds):
    _usages = ('dev-clean', 'dev-other', 'test-clean', 'test-other', 'train-clean-100', 'train-clean-360',
               'train-other-500', 'all')
    _arguments = _USAGE

    def _list(self, dataset_dir, usage):
        parts = [p for p in self._usages[:-1] if os.path.isdir(_join(dataset_dir, p))] if usage in (None, 'all') else [usage]
        rows = []
        for part in parts:
            for base, folders, files in os.walk(folder(_join(dataset_dir, part))):
                folders.sort()
                for name in sorted(n for n in files if n.endswith('.trans.tsv')):
                    for key, original, normalized in (line.split('\t')[:3] for line in lines(_join(base, name)) if line):
                        speaker, chapter = map(int, key.split('_')[:2])
                        rows.append((_join(base, f'{key}.wav'), None, original, normalized, u4(speaker), u4(chapter), key))
        return (*_SOUND, 'original_text', 'normalized_text', 'speaker_id', 'chapter_id', 'utterance_id'), rows


class LJSpeechDataset(_Sounds):
    _arguments, _rate = _PLAIN, np.int32

    def _list(self, dataset_dir):
        fields = [line.split('|') for line in lines(_join(dataset_dir, 'metadata.csv')) if line]
        return (*_SOUND, 'transcription', 'normalized_transcription'), [
            (_join(dataset_dir, 'wavs', f'{f[0]}.wav'), None, f[1], f[2]) for f in fields]


class SpeechCommandsDataset(_Sounds):
    _arguments, _usages, _rate = _USAGE, ('train', 'test', 'valid', 'all'), np.int32

    def _list(self, dataset_dir, usage):
        chosen = {p: set(lines(_join(dataset_dir, f'{n}_list.txt'))) for p, n in (('test', 'testing'), ('valid', 'validation'))} \
            if usage not in (None, 'all') else {}
        rows = []
        for label in sorted(e.name for e in os.scandir(dataset_dir) if e.is_dir() and not e.name.startswith('_')):
            for p in inside(_join(dataset_dir, label), '.wav'):
                name = os.path.basename(p)
                part = next((u for u, names in chosen.items() if f'{label}/{name}' in names), 'train')
                if usage in (None, 'all', part):
                    speaker, number = name[:-4].split('_nohash_')
                    rows.append((p, None, label, speaker, np.int32(number)))
        return (*_SOUND, 'label', 'speaker_id', 'utterance_number'), rows


class TedliumDataset(_Sounds):
    _arguments = lambda dataset_dir, release, usage=None, extensions=None, num_samples=None, num_parallel_workers=None, \
        shuffle=None, sampler=None, num_shards=None, shard_id=None, cache=None: None  # noqa: E731
    _rate, _read = np.int32, staticmethod(_sph)

    def _list(self, dataset_dir, release, usage, extensions):
        _check.choice('release', _check.kind('release', release, str), ('release1', 'release2', 'release3'))
        usages = ('all',) if release == 'release3' else ('train', 'test', 'dev', 'all')
        usage = 'all' if usage is None else _check.choice('usage', _check.kind('usage', usage, str), usages)
        if extensions is not None and _check.kind('extensions', extensions, str) != '.sph':
            raise RuntimeError(f'The extension {extensions} of TedliumDataset is not supported. It must be .sph.')
        parts = ('data',) if release == 'release3' else ('train', 'test', 'dev') if usage == 'all' else (usage,)
        rows = []
        for base in (_join(dataset_dir, p) for p in parts):
            for stm in inside(_join(base, 'stm'), '.stm'):
                for line in filter(str.strip, lines(stm)):
                    talk, _, speaker, begin, end, identifier, text = line.split(None, 6)
                    rows.append((_join(base, 'sph', f'{talk}.sph'), (float(begin), float(end)), text, talk, speaker, identifier))
        return (*_SOUND, 'transcript', 'talk_id', 'speaker_id', 'identifier'), rows


class YesNoDataset(_Sounds):
    """label: the eight words of a recording, 1 = yes in Hebrew."""

    _arguments, _rate = _PLAIN, np.int32

    def _list(self, dataset_dir):
        return (*_SOUND, 'label'), [(p, None, np.array(os.path.basename(p)[:-4].split('_'), np.int32))
                                    for p in inside(dataset_dir, '.wav')]


__all__ = [n for n, o in list(globals().items()) if n.endswith('Dataset') and isinstance(o, type) and n != 'RowsDataset']
