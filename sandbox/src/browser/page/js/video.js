// The video of a page: which it is, how long, its frames one after another, its text tracks.
(() => {
  const w = globalThis.wildgym;
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const TEXT = 40000; // characters of all tracks together
  let chosen = null;

  const all = (root, out = []) => {
    for (const el of root.querySelectorAll('*')) {
      if (el.localName === 'video') out.push(el);
      if (el.shadowRoot) all(el.shadowRoot, out);
    }
    return out;
  };

  const until = async (test, ms) => {
    for (let left = ms; left > 0; left -= 25) { if (test()) return true; await pause(25); }
    return test();
  };

  /** How large the largest video of this frame is; 0 where there is none. */
  w.calls.videoArea = () => {
    chosen = null;
    let most = 0;
    for (const el of all(document)) {
      const rect = el.getBoundingClientRect();
      const area = w.rendered(el) ? Math.max(1, rect.width * rect.height) : 0;
      if (area > most) { most = area; chosen = el; }
    }
    return most;
  };

  /** Loads enough to know its length. */
  w.calls.videoOpen = async () => {
    if (!chosen) return { refused: 'the page has no video' };
    const el = chosen;
    if (el.readyState < 1) { el.preload = 'auto'; if (el.networkState !== 2) try { el.load(); } catch { /* told below */ } }
    const ok = await until(() => el.readyState >= 1 || el.error, 12000);
    if (!ok || el.error) return { refused: `its video cannot be played: ${el.error ? ['', 'it was aborted', 'the network failed', 'it cannot be decoded', 'it is not there or of an unknown format'][el.error.code] || 'unknown' : 'it does not load'}` };
    if (el.duration === Infinity) {
      // A recording without a length in its head tells it once its end is looked for.
      el.currentTime = 1e9;
      await until(() => Number.isFinite(el.duration), 4000);
    }
    const length = Number.isFinite(el.duration) ? el.duration : (el.seekable.length ? el.seekable.end(el.seekable.length - 1) : 0);
    const was = { paused: el.paused, time: el.currentTime };
    el.pause();
    w.videoWas = was;
    return { length, live: !Number.isFinite(el.duration), title: el.title || el.getAttribute('aria-label') || '' };
  };

  /** Shows one moment; returns where the picture is in this frame's window. */
  w.calls.videoSeek = async ({ at }) => {
    const el = chosen;
    if (!el || !el.isConnected) return { refused: 'the video is gone' };
    el.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    const ranges = [...Array(el.seekable.length).keys()];
    if (!ranges.some((n) => el.seekable.start(n) <= at && el.seekable.end(n) >= at)) {
      // A server that gives no parts leaves nothing but to play up to there.
      if (el.currentTime < at) {
        const before = { rate: el.playbackRate, muted: el.muted };
        el.muted = true;
        el.playbackRate = Math.min(16, Math.max(1, (at - el.currentTime) / 4));
        el.play().catch(() => {});
        await until(() => el.currentTime >= at || el.ended, 12000);
        el.pause();
        el.playbackRate = before.rate; el.muted = before.muted;
      }
    } else if (Math.abs(el.currentTime - at) > 0.001 || el.readyState < 2) {
      let done = false;
      el.addEventListener('seeked', () => { done = true; }, { once: true });
      el.currentTime = at;
      await until(() => (done || !el.seeking) && el.readyState >= 2, 6000);
    }
    if (el.requestVideoFrameCallback) await Promise.race([new Promise((done) => el.requestVideoFrameCallback(done)), pause(120)]);
    const rect = el.getBoundingClientRect();
    return { x: rect.left, y: rect.top, width: rect.width, height: rect.height, at: el.currentTime };
  };

  /** The lines of caption, subtitle, description and chapter tracks, with their seconds. */
  w.calls.videoText = async () => {
    const el = chosen;
    if (!el) return { text: '' };
    const tracks = [...el.textTracks].filter((track) => track.kind !== 'metadata');
    const modes = tracks.map((track) => track.mode);
    for (const track of tracks) if (track.mode === 'disabled') track.mode = 'hidden';
    if (tracks.length) await until(() => [...el.querySelectorAll('track')].every((track) => track.readyState >= 2), 3000);
    let text = '';
    for (const track of tracks) {
      const cues = [...(track.cues || [])];
      if (!cues.length) continue;
      text += `${track.kind}${track.language ? ` (${track.language})` : ''}${track.label ? ` "${track.label}"` : ''}\n`;
      for (const cue of cues) {
        text += `${cue.startTime.toFixed(1)}-${cue.endTime.toFixed(1)} ${w.squeeze(String(cue.text || '').replace(/<[^>]*>/g, ''))}\n`;
        if (text.length > TEXT) { text += '… (cut)\n'; break; }
      }
    }
    tracks.forEach((track, n) => { track.mode = modes[n]; });
    return { text };
  };

  w.calls.videoDone = () => {
    const el = chosen, was = w.videoWas;
    if (el && was) { el.currentTime = was.time; if (!was.paused) el.play().catch(() => {}); }
    return {};
  };
})();
