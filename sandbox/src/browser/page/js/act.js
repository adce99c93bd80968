// What has to be known and done before a click or an input: where an element is, whether
// it can be worked, what covers it; how each kind of input takes a text. Clicks and keys
// themselves are sent by the browser, not from here.
(() => {
  const w = globalThis.wildgym;
  const { tag, kind, squeeze, cut } = w;
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));

  const refuse = (why) => ({ refused: why });

  /** Finds an element, or says what became of it. */
  const locate = (id) => {
    const { el, gone, was } = w.find(id);
    return gone ? { gone: true, was } : { el };
  };

  /** What a click on an element really has to hit. */
  const goal = (el) => w.standIn(el);

  const hidden = (el) => {
    if (w.visible(el)) return null;
    if (!w.rendered(el)) return 'it is hidden';
    if (w.box(el).width <= 1 || w.box(el).height <= 1) return 'it has no size on the page';
    return 'it is transparent';
  };

  /** Points of an element worth trying: the middle of its first lines, then a grid. */
  const points = (el) => {
    const out = [];
    const rects = [...el.getClientRects()].filter((rect) => rect.width > 1 && rect.height > 1);
    const whole = w.box(el);
    if (!rects.length) rects.push(whole);
    const add = (x, y) => { if (x >= 0 && y >= 0 && x < innerWidth && y < innerHeight) out.push({ x, y }); };
    if (rects.length === 1 || tag(el) !== 'a') add(whole.left + whole.width / 2, whole.top + whole.height / 2);
    for (const rect of rects.slice(0, 4)) add(rect.left + rect.width / 2, rect.top + rect.height / 2);
    for (const rect of rects.slice(0, 4)) {
      for (const fy of [0.25, 0.75, 0.08, 0.92, 0.5]) for (const fx of [0.25, 0.75, 0.04, 0.96, 0.5]) {
        add(rect.left + rect.width * fx, rect.top + rect.height * fy);
      }
    }
    return out;
  };

  const belongs = (hit, el, target) => {
    if (!hit) return false;
    if (w.inside(hit, target) || w.inside(hit, el)) return true;
    // A click on a label works its control, and the label of a control stands for it.
    const label = hit.closest && hit.closest('label');
    return !!label && label.control === el;
  };

  const settled = async (el) => {
    let before = null, same = 0;
    for (let tries = 0; tries < 40; tries++) {
      const rect = el.getBoundingClientRect();
      const now = `${rect.left.toFixed(1)} ${rect.top.toFixed(1)} ${rect.width.toFixed(1)} ${rect.height.toFixed(1)}`;
      same = now === before ? same + 1 : 0;
      if (same >= 2) return true;
      before = now;
      await pause(16);
    }
    return false;
  };

  /** Brings an element into the window, waits until it rests, and finds a point that hits it. */
  w.calls.aim = async ({ id, able, clip }) => {
    const found = locate(id);
    if (found.gone) return found;
    const el = found.el, told = w.label(el);
    if (able && w.disabled(el)) return { ...refuse('it is disabled'), told };
    const why = hidden(el);
    if (why) return { ...refuse(why), told };
    const target = goal(el);
    // Only where it is not wholly in the window: a page that jumps loses what was read.
    const clipped = !w.shown(target) || (() => {
      const rect = w.box(target);
      return rect.top < clip.top || rect.left < clip.left || rect.bottom > clip.bottom || rect.right > clip.right;
    })();
    if (clipped) target.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    const still = await settled(target);
    if (!el.isConnected) return { gone: true, was: told.replace(/^\[\d+\] /, '') };
    // What fades away or comes to rest is given a moment.
    for (let tries = 0; ; tries++) {
      let cover = null;
      const tried = points(target);
      for (const point of tried) {
        const hit = w.at(point.x, point.y);
        if (belongs(hit, el, target)) return { ...point, told, still, kind: facts(el) };
        cover = cover || hit;
      }
      if (!el.isConnected) return { gone: true, was: told.replace(/^\[\d+\] /, '') };
      if (tries < 15) { await pause(80); continue; }
      if (!tried.length) return { ...refuse('it cannot be brought into the window'), told };
      return { ...refuse(cover ? `it is covered by ${covering(cover)}` : 'nothing is there to be clicked'), told };
    }
  };

  /** Names what covers something: the nearest thing with an id, else what it looks like. */
  const covering = (hit) => {
    for (let at = hit; at && at.nodeType === 1; at = w.above(at)) if (w.IDS.has(at)) return w.label(at);
    let text = '', at = hit;
    for (; at && at.nodeType === 1 && !text; at = w.above(at)) text = cut(w.text(at, 80), 60);
    const called = `<${tag(hit)}${hit.id ? ` id=${w.quoted(cut(hit.id, 40))}` : ''}${typeof hit.className === 'string' && hit.className ? ` class=${w.quoted(cut(squeeze(hit.className), 40))}` : ''}>`;
    return text ? `${called} with the text ${w.quoted(text)}` : called;
  };

  /** Whether the point still hits it, after the pointer came. */
  w.calls.still = ({ id, x, y }) => {
    const found = locate(id);
    if (found.gone) return found;
    const hit = w.at(x, y);
    if (belongs(hit, found.el, goal(found.el))) return {};
    return refuse(hit ? `it is covered by ${covering(hit)}` : 'it moved away');
  };

  /** Whether a point of this frame's window shows the frame with that token. */
  w.calls.frameAt = ({ token, x, y }) => {
    const hit = w.at(x, y);
    if (hit && w.FRAMES.get(hit) === token) return {};
    return refuse(hit ? `its frame is covered by ${covering(hit)}` : 'its frame is not there any more');
  };

  const facts = (el) => ({
    tag: tag(el), type: kind(el), role: w.role(el),
    checked: 'checked' in el ? !!el.checked : null,
    newTab: tag(el) === 'a' && el.target === '_blank',
  });

  w.calls.describe = ({ id }) => {
    const found = locate(id);
    if (found.gone) return found;
    return { told: w.label(found.el), kind: facts(found.el), states: w.states(found.el) };
  };

  // ---- inputs

  const FORMATS = {
    date: ['YYYY-MM-DD', '2026-03-09'], time: ['HH:MM, 24 hours', '14:05'],
    'datetime-local': ['YYYY-MM-DDTHH:MM', '2026-03-09T14:05'], month: ['YYYY-MM', '2026-03'],
    week: ['YYYY-Www', '2026-W11'], color: ['#rrggbb', '#ff8800'],
  };
  const YES = new Set(['true', 'yes', 'on', '1', 'checked', 'check']);
  const NO = new Set(['false', 'no', 'off', '0', 'unchecked', 'uncheck', '']);

  const tell = (el, ...names) => {
    for (const name of names) el.dispatchEvent(new Event(name, { bubbles: true, composed: true }));
  };

  const editable = (el) => {
    if (tag(el) === 'label' && el.control) return el.control;
    if (['input', 'textarea', 'select'].includes(tag(el)) || el.isContentEditable) return el;
    const inner = el.querySelectorAll('input:not([type=hidden]), textarea, select, [contenteditable=""], [contenteditable="true"]');
    return inner.length === 1 ? inner[0] : null;
  };

  /**
   * Fills what can be filled from here and says what is left to the browser:
   * `done`, `type` (the field is focused and its text selected), `click`, or `file`.
   */
  w.calls.fill = ({ id, text }) => {
    const found = locate(id);
    if (found.gone) return found;
    const told = w.label(found.el);
    const no = (why) => ({ ...refuse(why), told });
    const el = editable(found.el);
    if (!el && w.role(found.el) === 'button') return no('it is a button; click it');
    if (!el) return no(`it is a ${w.role(found.el)}, which takes no text`);
    if (w.disabled(el)) return no('it is disabled');
    const type = kind(el);
    if (['button', 'submit', 'reset', 'image'].includes(type)) return no('it is a button; click it');
    if (type === 'file') return { file: true, multiple: el.multiple, accept: el.accept, told };
    if (el.readOnly && !['checkbox', 'radio', 'range', 'color'].includes(type)) return no('it can only be read');
    const why = hidden(el);
    if (why) return no(why);
    if (tag(el) === 'select') return { ...choose(el, text), told };
    if (type === 'checkbox' || type === 'radio') return { ...check(el, type, text), told };
    if (type in FORMATS) return { ...format(el, type, text.trim()), told };
    if (type === 'range' || type === 'number') {
      const problem = number(el, type, text.trim());
      if (problem) return no(problem);
      if (type === 'range') return { ...format(el, type, text.trim()), told };
    }
    return { ...select(el, text), told };
  };

  /** Focuses a text field and selects all of it, so that what is typed replaces it. */
  const select = (el, text) => {
    el.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
    el.focus({ preventScroll: true });
    if (w.deepActive() !== el && document.activeElement !== el && !el.contains(document.activeElement)) {
      return refuse('it does not take the focus');
    }
    if (el.isContentEditable && !('select' in el)) {
      const range = document.createRange();
      range.selectNodeContents(el);
      const selection = getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      return { type: true, empty: el.textContent === '', lines: true, had: cut(w.text(el), 80) };
    }
    el.select();
    const most = el.maxLength;
    const had = el.value;
    const suggests = !!el.list || el.getAttribute('role') === 'combobox' || el.hasAttribute('aria-autocomplete') || /autocomplete|typeahead/i.test(String(el.className));
    return { type: true, empty: had === '', lines: tag(el) === 'textarea', most: most >= 0 ? most : null, suggests, had: cut(had, 80) };
  };

  /** After typing: what the field holds now; and the change that a person's leaving would tell. */
  w.calls.filled = ({ id, quiet }) => {
    const found = locate(id);
    if (found.gone) return found;
    const el = editable(found.el);
    if (!el) return { gone: true, was: w.describe(found.el) };
    if (!quiet && 'value' in el) tell(el, 'change');
    return { value: 'value' in el ? el.value : el.innerText.replace(/\n$/, ''), told: w.label(found.el) };
  };

  const nearest = (names) => {
    const some = names.slice(0, 20).map((name) => w.quoted(name)).join(', ');
    return names.length > 20 ? `${some}, … ${names.length - 20} more` : some;
  };

  const choose = (el, text) => {
    const all = [...el.options];
    const plain = (option) => squeeze(option.label || option.text);
    const match = (want) => {
      const exact = all.filter((option) => plain(option) === want || option.value === want);
      if (exact.length) return exact.find((option) => !option.disabled && plain(option) === want) || exact.find((option) => !option.disabled) || exact[0];
      const low = want.toLowerCase();
      const loose = all.filter((option) => plain(option).toLowerCase() === low || option.value.toLowerCase() === low);
      return loose.find((option) => !option.disabled) || loose[0];
    };
    const whole = match(squeeze(text));
    let wants = [text];
    if (!whole && el.multiple) {
      wants = null;
      try { const list = JSON.parse(text); if (Array.isArray(list)) wants = list.map(String); } catch { /* no list */ }
      wants = wants || text.split(text.includes('\n') ? '\n' : /[,;]/);
      wants = wants.map(squeeze).filter(Boolean);
    }
    const picked = [];
    for (const want of wants) {
      const option = match(squeeze(want));
      if (!option) return refuse(`it has no option "${cut(squeeze(want), 80)}"; it has ${nearest(all.map(plain))}`);
      if (option.disabled || (option.parentElement.disabled && tag(option.parentElement) === 'optgroup')) return refuse(`its option ${w.quoted(plain(option))} is disabled`);
      picked.push(option);
    }
    const before = all.map((option) => option.selected).join();
    el.focus({ preventScroll: true });
    for (const option of all) {
      const on = picked.includes(option);
      if (el.multiple) option.selected = on; else if (on) option.selected = true;
    }
    if (before !== all.map((option) => option.selected).join()) tell(el, 'input', 'change');
    return { done: picked.map((option) => w.quoted(plain(option))).join(', ') || 'nothing', how: 'chose' };
  };

  const check = (el, type, text) => {
    const word = squeeze(text).toLowerCase();
    if (!YES.has(word) && !NO.has(word)) return refuse(`it is a ${type}; give \`true\` or \`false\``);
    const want = YES.has(word);
    if (type === 'radio' && !want) return refuse('it is a radio button, which only another of its group can switch off; give `true` to that one');
    if (el.checked === want && !el.indeterminate) return { done: want ? 'checked' : 'unchecked', how: 'left' };
    return { click: true, want };
  };

  const number = (el, type, text) => {
    if (text === '' && type === 'number') return null;
    if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return `it takes a number, such as ${el.value || el.min || '12'}`;
    const n = Number(text);
    const low = el.min === '' ? (type === 'range' ? 0 : null) : Number(el.min);
    const high = el.max === '' ? (type === 'range' ? 100 : null) : Number(el.max);
    if ((low !== null && n < low) || (high !== null && n > high)) return `it takes a number ${low !== null ? `from ${low} ` : ''}${high !== null ? `to ${high}` : 'up'}`;
    return null;
  };

  /** Inputs whose value has a format of its own: set, and read back. */
  const format = (el, type, text) => {
    const before = el.value;
    el.focus({ preventScroll: true });
    el.value = text;
    const same = type === 'range' ? Number(el.value) === Number(text)
      : el.value === text || (type === 'color' && el.value === text.toLowerCase())
        || (el.value !== '' && el.value.startsWith(text)) || (text !== '' && text.startsWith(el.value) && el.value !== '');
    if (!same) {
      const now = el.value;
      el.value = before;
      if (type === 'range') return refuse(`it moves in steps of ${el.step || 1}${el.min !== '' ? ` from ${el.min}` : ''}; ${now} would be the nearest`);
      const [shape, example] = FORMATS[type];
      return refuse(`it takes a ${type === 'datetime-local' ? 'date and time' : type} as ${shape}, such as ${example}`);
    }
    if (text !== '' && (el.validity.rangeUnderflow || el.validity.rangeOverflow)) {
      el.value = before;
      return refuse(`it takes ${el.min ? `nothing before ${el.min}` : 'any'}${el.max ? ` and nothing after ${el.max}` : ''}`);
    }
    if (el.value !== before) tell(el, 'input', 'change');
    return { done: w.quoted(el.value), how: 'set' };
  };

  /** The element itself, for what the browser does with a file input. */
  w.fileInput = (id) => { const { el } = w.find(id); return el ? editable(el) : null; };

  /** Something that lies behind a dialog, over all the rest, and closes it. */
  const backdrop = (el) => {
    const rect = el.getBoundingClientRect();
    return w.role(el) === 'clickable' && rect.width * rect.height > innerWidth * innerHeight / 2;
  };

  /** A point where nothing is that could be worked. */
  w.calls.blank = () => {
    const fits = (hit, strict) => {
      if (!hit) return true;
      for (let at = hit; at && at.nodeType === 1; at = w.above(at)) {
        if (at === document.documentElement || at === document.body) return true;
        if ((w.interactive(at) && !backdrop(at)) || tag(at) === 'label' || tag(at) === 'iframe' || tag(at) === 'dialog' || at.getAttribute('role') === 'dialog') return false;
      }
      return !strict;
    };
    const bare = (hit) => hit === document.documentElement || hit === document.body || !hit;
    const spots = [];
    const cols = 24, rows = 16;
    for (let j = 0; j < rows; j++) for (let i = 0; i < cols; i++) {
      spots.push({ x: Math.round((i + 0.5) * innerWidth / cols), y: Math.round((j + 0.5) * innerHeight / rows), edge: Math.min(i, cols - 1 - i, j, rows - 1 - j) });
    }
    spots.sort((a, b) => a.edge - b.edge || b.y - a.y || b.x - a.x);
    for (const { x, y } of spots) if (bare(w.at(x, y))) return { x, y };
    // Nothing of the page itself is free: a box without text at the point will do.
    for (const { x, y } of spots) {
      const hit = w.at(x, y);
      if (hit && fits(hit) && !squeeze(hit.textContent || '') && !['img', 'video', 'canvas', 'svg'].includes(tag(hit))) return { x, y };
    }
    for (const { x, y } of spots) {
      const hit = w.at(x, y);
      if (hit && fits(hit)) {
        const rect = hit.getBoundingClientRect();
        const child = [...hit.children].some((inner) => { const r = inner.getBoundingClientRect(); return x >= r.left && x <= r.right && y >= r.top && y <= r.bottom; });
        if (!child && rect.width * rect.height > 10000) return { x, y };
      }
    }
    return refuse('there is no blank area in the window; everything in it can be clicked');
  };
})();
