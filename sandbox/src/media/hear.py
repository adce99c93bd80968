# Writes down what is said in 16 kHz mono WAV files: a JSON line for each.
import json
import os
import sys
import wave

home = os.environ["WILDGYM_SPEECH"]
sys.path.insert(0, os.path.join(home, "site"))

import numpy
from faster_whisper import WhisperModel

# Fixed, so that one recording gives one transcript: no sampling, one beam width.
DECODING = {
    "beam_size": 5,
    "temperature": 0.0,
    "condition_on_previous_text": False,
    "vad_filter": True,
    # Else a segment reaches over the silences that were left out around it.
    "word_timestamps": True,
}


def samples(path):
    with wave.open(path) as file:
        frames = file.readframes(file.getnframes())
    return numpy.frombuffer(frames, numpy.int16).astype(numpy.float32) / 32768


# Words further apart than this, in seconds, are told apart.
PAUSE = 1.5


def parts(segment):
    """The stretches of a segment between pauses, each with its times."""
    run = []
    for word in segment.words or ():
        if run and word.start - run[-1].end > PAUSE:
            yield run
            run = []
        run.append(word)
    if run:
        yield run


model = WhisperModel(
    os.path.join(home, "model"),
    device="cpu",
    compute_type="int8",
    cpu_threads=len(os.sched_getaffinity(0)),
    local_files_only=True,
)
language = None
for path in sys.argv[1:]:
    found, about = model.transcribe(samples(path), language=language, **DECODING)
    segments = []
    for one in found:
        for run in parts(one):
            text = "".join(word.word for word in run)
            segments.append({"start": run[0].start, "end": run[-1].end, "text": text})
    if segments:
        # The pieces of a recording are in one language.
        language = language or about.language
    heard = {"language": about.language if segments else None, "segments": segments}
    print(json.dumps(heard), flush=True)
