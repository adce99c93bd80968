// Scrolling, and finding text.
(() => {
  const w = globalThis.wildgym;
  const { tag, below, squeeze, cut } = w;

  const scrolls = (el) => {
    if (el.scrollHeight <= el.clientHeight + 2 || el.clientHeight < 24) return false;
    if (el === document.scrollingElement) {
      const look = w.style(document.documentElement);
      return !(look.overflowY === 'hidden' || (document.body && el !== document.body && w.style(document.body).overflowY === 'hidden' && look.overflowY === 'visible'));
    }
    return ['auto', 'scroll', 'overlay'].includes(w.style(el).overflowY) || tag(el) === 'textarea';
  };

  /** What scrolls: the page, or else the largest part of it that does. */
  const region = () => {
    const whole = document.scrollingElement || document.documentElement;
    if (whole && scrolls(whole)) return whole;
    let best = null, most = 0, looked = 0;
    const look = (root) => {
      for (const el of root.querySelectorAll('*')) {
        if (++looked > 50000) return;
        if (el.shadowRoot) look(el.shadowRoot);
        if (el.scrollHeight <= el.clientHeight + 2 || !scrolls(el) || !w.seen(el)) continue;
        const rect = el.getBoundingClientRect();
        const area = Math.max(0, Math.min(rect.right, innerWidth) - Math.max(rect.left, 0)) * Math.max(0, Math.min(rect.bottom, innerHeight) - Math.max(rect.top, 0));
        if (area > most) { most = area; best = el; }
      }
    };
    look(document);
    return best;
  };

  w.scrolled = () => {
    const el = region() || document.scrollingElement || document.documentElement;
    if (!el) return { top: 0, window: innerHeight, page: innerHeight };
    return { top: Math.max(0, Math.round(el.scrollTop)), window: el.clientHeight, page: Math.max(el.scrollHeight, el.clientHeight) };
  };

  /** Scrolls the region: `top`, `bottom`, `up` or `down`; tells where it was and is. */
  w.calls.scroll = ({ to }) => {
    const el = region();
    if (!el) return { none: true, ...w.scrolled() };
    const from = el.scrollTop, step = Math.max(40, Math.round(el.clientHeight * 0.9));
    const goal = { top: 0, bottom: el.scrollHeight, up: from - step, down: from + step }[to];
    el.scrollTo({ top: goal, behavior: 'instant' });
    const whole = el === document.scrollingElement;
    return { from: Math.round(from), whole, what: whole ? '' : w.label(el), ...w.scrolled() };
  };

  // One text of all that is rendered, and for each of its letters where it came from.
  const QUOTES = { '\u2018': "'", '\u2019': "'", '\u201a': "'", '\u201b': "'", '\u2032': "'", '\u201c': '"', '\u201d': '"', '\u201e': '"', '\u2033': '"', '\u00ab': '"', '\u00bb': '"' };
  const fold = (letter) => {
    const plain = QUOTES[letter] || letter;
    const low = plain.toLowerCase();
    return low.length === plain.length ? low : plain;
  };
  const gather = () => {
    const letters = [], from = [];
    let nodes = 0;
    const push = (letter, node, index) => {
      if (letter === ' ' && (letters.length === 0 || letters[letters.length - 1] === ' ')) return;
      letters.push(letter); from.push(node, index);
    };
    const walk = (node) => {
      if (++nodes > 400000 || letters.length > 4000000) return;
      if (node.nodeType === 3) {
        const data = node.data;
        for (let i = 0; i < data.length; i++) {
          const letter = data[i];
          if (letter === '\u00ad' || letter === '\u200b' || letter === '\u200c' || letter === '\u200d') continue;
          push(/\s/.test(letter) ? ' ' : fold(letter), node, i);
        }
        return;
      }
      if (node.nodeType !== 1) return;
      const what = tag(node);
      if (['script', 'style', 'noscript', 'template', 'head', 'datalist'].includes(what)) return;
      const look = w.style(node);
      if (look.display === 'none' || (look.visibility !== 'visible' && !node.children.length)) return;
      if (what === 'br') { push(' ', node, 0); return; }
      const apart = !look.display.startsWith('inline') && look.display !== 'contents';
      if (apart) push(' ', node, 0);
      for (const child of below(node)) walk(child);
      if (apart) push(' ', node, 0);
    };
    if (document.body) walk(document.body);
    return { text: letters.join(''), from };
  };

  const hits = (text, wanted) => {
    const out = [];
    for (let at = text.indexOf(wanted); at >= 0 && out.length < 10000; at = text.indexOf(wanted, at + wanted.length)) out.push(at);
    return out;
  };
  const wanted = (text) => [...squeeze(text.replace(/[\u00ad\u200b\u200c\u200d]/g, ''))].map(fold).join('');

  w.calls.count = ({ text }) => hits(gather().text, wanted(text)).length;

  /** Scrolls to the n-th hit (from 0) and returns it with what stands round it. */
  w.calls.show = ({ text, n }) => {
    const looked = wanted(text), whole = gather();
    const at = hits(whole.text, looked)[n];
    if (at === undefined) return null;
    const node = whole.from[at * 2], offset = whole.from[at * 2 + 1];
    const el = node.nodeType === 3 ? node.parentElement : node;
    el.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
    if (node.nodeType === 3) {
      const range = document.createRange();
      range.setStart(node, Math.min(offset, node.length));
      range.setEnd(node, Math.min(offset + 1, node.length));
      const rect = range.getBoundingClientRect();
      // A long paragraph may have its middle in the window and the hit elsewhere.
      if (rect.height && (rect.top < 0 || rect.bottom > innerHeight)) {
        scrollBy({ top: rect.top - innerHeight / 2, behavior: 'instant' });
      }
    }
    const original = (from, to) => {
      let out = '';
      for (let i = Math.max(0, from); i < Math.min(whole.text.length, to); i++) {
        const source = whole.from[i * 2];
        out += source.nodeType === 3 && whole.text[i] !== ' ' ? source.data[whole.from[i * 2 + 1]] : ' ';
      }
      return out;
    };
    return { context: squeeze(original(at - 60, at + looked.length + 60)), link: cut(w.describe(el), 80) };
  };
})();
globalThis.wildgym.calls.scrolledNow = () => globalThis.wildgym.scrolled();
